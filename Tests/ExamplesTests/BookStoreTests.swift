import BookStoreMigrator
import Causeway
import Foundation
import Synchronization
import Testing

/// Book store v1 → v5, as Fixtures/README.md says.
@Suite("BookStore: inheritance, a policy of two mappings, a hook of the manager", .timeLimit(.minutes(60)))
struct BookStoreTests {
    static let history = ExampleHistory(
        name: "BookStore", versions: ["v1", "v2", "v3", "v4", "v5"], code: BookStoreMigrator.code)

    /// Z_ENT of Publication from v3 on; Genre is 1, Magazine 3.
    private static let publication = 2
    private static let carried = "Z_PK, ZTITLE, ZISBN, ZPUBLISHED, ZPRICE, ZCOVER"

    @Test("v1 → v2: authors and genres get room")
    func room() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let result = try await Self.history.migrate(source, to: "v2", in: workshop)
        #expect(
            try StoreContent.rows("SELECT \(Self.carried), ZAUTHOR FROM ZBOOK", result)
                == StoreContent.rows("SELECT \(Self.carried), NULL FROM ZBOOK", source))
        let files = try StoreContent.externalFiles(source)
        #expect(!files.isEmpty)
        #expect(try StoreContent.externalFiles(result) == files)
        #expect(try StoreContent.count("ZGENRE", result) == 0)
        #expect(try StoreContent.count("Z_1GENRES", result) == 0)
    }

    @Test("v2 → v3: books become publications, links are kept")
    func publications() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v2", in: workshop)
        let result = try await Self.history.migrate(source, to: "v3", in: workshop)
        #expect(
            try StoreContent.rows("SELECT \(Self.carried), ZAUTHOR, Z_ENT, ZISSUE FROM ZPUBLICATION", result)
                == StoreContent.rows("SELECT \(Self.carried), ZAUTHOR, \(Self.publication), NULL FROM ZBOOK", source))
        try expectGenres(result, from: source, at: "v2")
    }

    @Test("v3 → v4: authors become first and last names, of magazines too")
    func names() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v3", in: workshop)
        #expect(try StoreContent.count("ZPUBLICATION WHERE ZAUTHOR IS NOT NULL", source) == 77)
        let result = try await Self.history.migrate(source, to: "v4", in: workshop)
        try expectPublications(result, from: source, at: "v3", hasSynopsis: false)
    }

    @Test("names are split at any white space")
    func whiteSpace() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v3", in: workshop)
        let authors = ["", " \t\n", "Ursula", " Ursula ", "Ursula Kroeber  Le\tGuin", "José\u{2003}Saramago\n"]
        for (index, author) in authors.enumerated() {
            try StoreContent.execute("UPDATE ZPUBLICATION SET ZAUTHOR = '\(author)' WHERE Z_PK = \(index + 1)", source)
        }
        let result = try await Self.history.migrate(source, to: "v4", in: workshop)
        #expect(
            try StoreContent.texts("SELECT ZFIRSTNAME, ZLASTNAME FROM ZPUBLICATION ORDER BY Z_PK LIMIT 6", result) == [
                [nil, nil], [nil, nil], [nil, "Ursula"], [nil, "Ursula"], ["Ursula Kroeber Le", "Guin"],
                ["José", "Saramago"],
            ])
        try expectPublications(result, from: source, at: "v3", hasSynopsis: false)
    }

    @Test("v4 → v5: the hook of the manager writes the synopses")
    func synopses() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v4", in: workshop)
        let result = try await Self.history.migrate(source, to: "v5", in: workshop)
        try expectPublications(result, from: source, at: "v4", hasSynopsis: true)
    }

    @Test("the whole chain from every version", arguments: ["v1", "v2", "v3"], [true, false])
    func chain(from version: String, fusesSteps: Bool) async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: version, in: workshop)
        let result = try await Self.history.migrate(source, to: "v5", .init(fusesSteps: fusesSteps), in: workshop)
        try expectPublications(result, from: source, at: version, hasSynopsis: true)
    }

    @Test("progress is reported over the whole chain")
    func progress() async throws {
        let workshop = try Workshop()
        let source = try Self.history.store(at: "v1", in: workshop)
        let events = Mutex<[MigrationEvent]>([])
        try await Self.history.migrate(
            source, to: "v5", .init(batchRows: 16, jobs: 2, fusesSteps: false), in: workshop,
            events: { event in events.withLock { $0.append(event) } })
        var steps: [[String]] = []
        var last = 0
        var total = 0
        for event in events.withLock({ $0 }) {
            switch event {
            case .stepBegan(let versions, let index, let count, _):
                #expect(index == steps.count)
                #expect(count == 4)
                steps.append(versions)
            case .progress(let progress):
                #expect(progress.rows >= last)
                (last, total) = (progress.rows, progress.totalRows)
            default: continue
            }
        }
        #expect(steps == [["v1", "v2"], ["v2", "v3"], ["v3", "v4"], ["v4", "v5"]])
        #expect(last >= 4 * ExampleHistory.rows)
        #expect(last <= total)
    }

    // MARK: - Expected rows

    /// A publication of a source store as it is at v4 and v5.
    private static func expected(_ source: String, at version: String, hasSynopsis: Bool) throws -> [[String?]] {
        let table = ["v1", "v2"].contains(version) ? "ZBOOK" : "ZPUBLICATION"
        let author = ["v2", "v3"].contains(version) ? "ZAUTHOR" : "NULL"
        let names = version == "v4" ? "ZFIRSTNAME, ZLASTNAME" : "NULL, NULL"
        let rows = try StoreContent.texts(
            "SELECT Z_PK, ZTITLE, \(author), \(names) FROM \(table) ORDER BY Z_PK", source)
        return rows.map { row in
            var (first, last) = (row[3], row[4])
            if let author = row[2] {
                let words = author.split(whereSeparator: \.isWhitespace).map { String($0) }
                last = words.last
                first = words.count > 1 ? words.dropLast().joined(separator: " ") : nil
            }
            let both = [first, last].compactMap { $0 }.joined(separator: " ")
            let title = row[1] ?? ""
            return [row[0], first, last] + (hasSynopsis ? [both.isEmpty ? title : "\(title) by \(both)"] : [])
        }
    }

    private func expectPublications(
        _ result: String, from source: String, at version: String, hasSynopsis: Bool
    ) throws {
        let hadBooks = ["v1", "v2"].contains(version)
        let table = hadBooks ? "ZBOOK" : "ZPUBLICATION"
        #expect(
            try StoreContent.rows("SELECT \(Self.carried), Z_ENT, ZISSUE FROM ZPUBLICATION", result)
                == StoreContent.rows(
                    "SELECT \(Self.carried), \(hadBooks ? "\(Self.publication), NULL" : "Z_ENT, ZISSUE") FROM \(table)",
                    source))
        #expect(try StoreContent.externalFiles(result) == StoreContent.externalFiles(source))
        #expect(
            try StoreContent.texts(
                "SELECT Z_PK, ZFIRSTNAME, ZLASTNAME\(hasSynopsis ? ", ZSYNOPSIS" : "") FROM ZPUBLICATION ORDER BY Z_PK",
                result) == Self.expected(source, at: version, hasSynopsis: hasSynopsis))
        if hasSynopsis {
            #expect(try StoreContent.count("ZSHELF", result) == 0)
            #expect(try StoreContent.rows("SELECT DISTINCT ZSHELF FROM ZPUBLICATION", result) == ["NULL"])
        }
        try expectGenres(result, from: source, at: version)
    }

    private func expectGenres(_ result: String, from source: String, at version: String) throws {
        // Book and Genre are the entities 1 and 2 in v2, Genre and Publication are 1 and 2 in later versions.
        let links = "SELECT Z_2PUBLICATIONS AS p, Z_1GENRES AS g FROM Z_1PUBLICATIONS ORDER BY 1, 2"
        let genres = "SELECT Z_PK, ZNAME FROM ZGENRE"
        switch version {
        case "v1":
            #expect(try StoreContent.rows(links, result).isEmpty)
            #expect(try StoreContent.rows(genres, result).isEmpty)
        case "v2":
            #expect(
                try StoreContent.rows(links, result)
                    == StoreContent.rows("SELECT Z_1BOOKS AS p, Z_2GENRES AS g FROM Z_1GENRES ORDER BY 1, 2", source))
            #expect(try StoreContent.rows(genres, result) == StoreContent.rows(genres, source))
        default:
            #expect(try StoreContent.rows(links, result) == StoreContent.rows(links, source))
            #expect(try StoreContent.rows(genres, result) == StoreContent.rows(genres, source))
        }
        if version != "v1" { #expect(try StoreContent.count("Z_1PUBLICATIONS", result) > 0) }
    }
}
