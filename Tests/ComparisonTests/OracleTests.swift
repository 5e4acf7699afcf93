import Causeway
import CausewayCheckers
import CausewaySQLite
import Foundation
import Testing

/// Real stores: `compare` says what `shared/tools/compare-stores` says, which shares no code with it.
@Suite(
    "Comparing real stores", .timeLimit(.minutes(60)),
    .enabled(if: SharedStores.isThere && Checker.isThere, "shared/stores or shared/tools is missing"))
struct OracleTests {
    /// Two stores of one app, the later one migrated by Core Data.
    struct Pair: CustomTestStringConvertible, Sendable {
        let a: String
        let b: String
        var testDescription: String { "\(a) → \(b)" }
    }

    private static let wire = [
        "1-27", "1-28", "2-3", "2-8", "2-21-1", "2-24-1", "2-31-0", "2-39-0", "2-46-0", "2-52-0", "2-53-0", "2-54-0",
        "2-57-0", "2-59-0", "2-60-0", "2-62-0", "2-63-0", "2-64-0", "2-66-0", "2-69-0", "2-75-0", "2-77-0", "2-78-0",
        "2-82-0", "2-88-0", "2-89-0", "2-96-0", "2-98-0", "2-99-0", "2-101-0",
    ]

    static let chains: [[String]] = [
        ["1", "2", "3"].map { "colourful-posts/CoreDataMigration_Example_\($0).sqlite" },
        ["1", "2", "3"].map { "posts-and-colors/CoreDataMigration_Example_\($0).sqlite" },
        ["", " 2", " 3", " 4", " 5"].map { "moody/Moody\($0).moody" },
        ["V1", "V2"].map { "coredataplus/SampleModel_\($0).sqlite" },
        ["V1", "V2"].map { "coredataplus/SampleModel2_\($0).sqlite" },
        ["2.0", "2.1"].map { "carekit/SampleStore\($0).sqlite" },
        ["10.15.4", "10.16.0"].map { "photos/Photos-\($0).sqlite" },
        wire.map { "wire/store\($0).wiredatabase" },
    ]

    static let pairs: [Pair] = chains.flatMap { chain in
        zip(chain, chain.dropFirst()).map { Pair(a: $0, b: $1) }
    }

    /// What Core Data keeps that isn't content: the order of columns, stale indexes, old names of entities.
    private static let layout: Set<String> = ["column order", "index missing", "index extra", "Z_PRIMARYKEY"]

    /// Stores of old Core Data have no cache of their model.
    private static func models(_ store: String) -> String? {
        store.hasPrefix("wire/") ? SharedStores.path("wire/zmessaging.xcdatamodeld") : nil
    }

    private func compare(
        _ a: String, _ b: String, in folder: borrowing StoreFolder
    ) throws -> (ours: StoreComparison, theirs: [Checker.Difference]) {
        let (first, second) = (try folder.copyShared(a, as: "a.sqlite"), try folder.copyShared(b, as: "b.sqlite"))
        return (try StoreComparison(first, second, models: Self.models(a)), try Checker.compare(first, second))
    }

    @Test("the verdict on a store and its successor", arguments: pairs)
    func successors(_ pair: Pair) throws {
        let folder = try StoreFolder()
        let (ours, theirs) = try compare(pair.a, pair.b, in: folder)
        let differences = theirs.filter { !Self.layout.contains($0.kind) }
        #expect(ours.isEqual == differences.isEmpty, "\(ours.places) against \(differences)")
    }

    /// The tool compares tables column by column, by the columns' names. What a column means isn't the same in both
    /// stores:
    ///
    /// - where entities got other numbers, for columns that hold these (Z_ENT, Z9_TARGET);
    /// - where two subentities' properties of one name shared a table and no longer do: one was in ZDELIVERED1, and
    ///   ZDELIVERED is another property's. Causeway compares property by property.
    ///
    /// Without these columns both find the same in every pair. One thing is left: a renamed entity is another one here,
    /// whose rows only one store has, and the same number for the tool.
    @Test("whether rows that both stores have differ, in columns that mean the same", arguments: pairs)
    func rows(_ pair: Pair) throws {
        let folder = try StoreFolder()
        let (ours, layout) = try compare(pair.a, pair.b, in: folder)
        let ignored = try Self.ambiguousColumns(layout, in: ["a.sqlite", "b.sqlite"].map { folder.path($0) })
        let theirs = try Checker.compare(folder.path("a.sqlite"), folder.path("b.sqlite"), ignoring: ignored)
            .filter { $0.kind == "rows" }
        let entities = ours.entities.filter { $0.onlyInA.count + $0.onlyInB.count > 0 }
        let places =
            ours.entities.filter { !$0.properties.isEmpty }.map(\.name)
            + ours.relationships.filter { !$0.isMissing && $0.onlyInA + $0.onlyInB + $0.places > 0 }.map(\.name)
            + ours.tables.filter(\.rowsDiffer).map(\.name)
        let isRenaming =
            theirs.isEmpty && !entities.isEmpty && entities.allSatisfy { ($0.rowsInA == 0) != ($0.rowsInB == 0) }
        #expect(isRenaming == pair.a.hasPrefix("coredataplus/SampleModel_"))
        if isRenaming {
            let counts = entities.reduce(into: (a: 0, b: 0)) { $0 = ($0.a + $1.rowsInA, $0.b + $1.rowsInB) }
            #expect(counts.a == counts.b && places.isEmpty)
        } else {
            #expect((entities.isEmpty && places.isEmpty) == theirs.isEmpty, "\(ours.places) against \(theirs)")
        }
    }

    /// As `TABLE.COLUMN`; `layout` is what the tool says of the two stores.
    private static func ambiguousColumns(_ layout: [Checker.Difference], in stores: [String]) throws -> [String] {
        var columns: Set<String> = []
        for difference in layout where difference.kind.hasPrefix("column ") {
            guard let numbered = difference.what.prefixMatch(of: #/(Z[A-Z_]+?)[0-9]+ /#) else { continue }
            columns.insert("\(difference.where).\(numbered.1)")
            columns.insert("\(difference.where).\(numbered.0.dropLast())")
        }
        guard layout.contains(where: { $0.kind == "Z_PRIMARYKEY" }) else { return columns.sorted() }
        for store in stores {
            let connection = try Connection(path: store, mode: .readOnly, hardening: .own)
            var list = try connection.prepare(
                """
                SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' \
                AND m.name NOT GLOB 'Z_[0-9]*'
                """)
            while try list.step() {
                guard let table = try list.string(at: 0), let column = try list.string(at: 1) else { continue }
                if column == "Z_ENT" || column.wholeMatch(of: #/Z[0-9]+_.*/#) != nil {
                    columns.insert("\(table).\(column)")
                }
            }
        }
        return columns.sorted()
    }

    @Test("a store equals itself, with and without keys", arguments: chains.flatMap(\.self))
    func same(_ store: String) throws {
        let folder = try StoreFolder()
        let (ours, theirs) = try compare(store, store, in: folder)
        #expect(ours.isEqual && theirs.isEmpty, "\(ours.places) against \(theirs)")
        do throws(MigrationError) {
            let comparison = try StoreComparison(
                folder.path("a.sqlite"), folder.path("b.sqlite"), isModuloKeys: true)
            #expect(comparison.isEqual, "\(comparison.places)")
        } catch {
            #expect(error.code == .missing && error.message.contains("its model is unknown"))
        }
    }

    /// Neighbours of the wire chain whose migration here must give what Core Data made, cell by cell.
    static let migrated = zip(
        ["2-60-0", "2-62-0", "2-63-0", "2-64-0", "2-88-0", "2-96-0", "2-98-0"],
        ["2-62-0", "2-63-0", "2-64-0", "2-66-0", "2-89-0", "2-98-0", "2-99-0"])
    private static let frameworks = ["2-89-0": 977, "2-98-0": 1132, "2-99-0": 1145]

    @Test("the verdict on what this library makes of a store, beside what Core Data made of it", arguments: migrated)
    func migrations(older: String, later: String) async throws {
        let folder = try StoreFolder()
        let source = try folder.copyShared("wire/store\(older).wiredatabase", as: "source.sqlite")
        let reference = try folder.copyShared("wire/store\(later).wiredatabase", as: "reference.sqlite")
        var options = MigrationOptions()
        options.target = "zmessaging" + later.split(separator: "-").joined(separator: ".")
        options.frameworkVersion = Self.frameworks[later] ?? 866
        options.output = folder.path("result.sqlite")
        (options.badRows, options.rejects) = (.quarantine, folder.path("rejects"))
        let models = SharedStores.path("wire/zmessaging.xcdatamodeld")
        try await Migrator(store: source, models: models, options: options).migrate()
        let theirs = try Checker.compare(folder.path("result.sqlite"), reference)
            .filter { !Self.layout.contains($0.kind) }
        let ours = try StoreComparison(folder.path("result.sqlite"), reference, models: models)
        #expect(ours.isEqual == theirs.isEmpty, "\(ours.places) against \(theirs)")
        let content = try StoreComparison(folder.path("result.sqlite"), reference, models: models, isModuloKeys: true)
        #expect(content.isEqual || !ours.isEqual, "\(content.places)")
        // One changed cell, and both see it.
        try folder.change(
            "UPDATE ZUSER SET ZNAME = 'x' WHERE Z_PK = (SELECT min(Z_PK) FROM ZUSER)", in: "result.sqlite")
        let changed = try StoreComparison(folder.path("result.sqlite"), reference, models: models)
        #expect(changed.places.contains("User.name"), "\(changed.places)")
    }
}
