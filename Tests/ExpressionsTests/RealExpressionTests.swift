import CausewayExpressions
import CausewayPlist
import Foundation
import Testing

@Suite("Real expressions", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct RealExpressionTests {
    /// Sections of expressions.txt whose lines are whole texts, and what each line is.
    private static let predicateSections = ["5", "11a", "11b", "12a", "12b"]
    private static let expressionSections = ["1", "2", "9a", "9b", "10b"]

    private func lines(of sections: [String]) throws -> [String] {
        let file = try String(contentsOf: SharedStores.folder.appending(path: "expressions.txt"), encoding: .utf8)
        var section = ""
        var texts: [String] = []
        for line in file.split(separator: "\n") {
            if line.hasPrefix("## ") {
                section = line.dropFirst(3).prefix { $0 != "." && $0 != " " }.description
            } else if sections.contains(section),
                let match = line.wholeMatch(of: /\s*\d+  (.*?)(   ?[\[(](written|the whole).*)?/)
            {
                texts.append(String(match.1))
            }
        }
        return texts
    }

    @Test("all known predicates parse and print stably")
    func predicates() throws {
        let texts = try lines(of: Self.predicateSections)
        #expect(texts.count > 70)
        for text in texts {
            let predicate = try Predicate(parsing: text)
            #expect(try Predicate(parsing: predicate.formatString) == predicate, "\(text)")
        }
    }

    @Test("all known expressions parse and print stably")
    func expressions() throws {
        let texts = try lines(of: Self.expressionSections)
        #expect(texts.count > 70)
        for text in texts {
            let expression = try Expression(parsing: text)
            #expect(try Expression(parsing: expression.formatString) == expression, "\(text)")
        }
    }

    @Test("every expression and predicate of compiled models and mapping models decodes and survives re-archiving")
    func compiled() throws {
        let files = SharedStores.files(endingIn: ".cdm") + SharedStores.files(endingIn: ".mom")
        #expect(files.count >= 7)
        var counts: [String: Int] = [:]
        for file in files {
            let archive = try KeyedArchive(parsing: Array(Data(contentsOf: file)))
            for reference in try instances(in: archive) {
                guard let kind = archive.archivedClass(of: reference), kind.name != "NSExpressionDescription" else {
                    continue
                }
                if kind.isKind(of: "NSExpression") {
                    // The class on which built-in functions are called isn't a value.
                    if try archive.field("NSConstantValueClassName", of: reference)?.isNull == false { continue }
                    counts[kind.name, default: 0] += 1
                    let expression = try Expression(archive: archive, at: reference)
                    var writer = KeyedArchiveWriter()
                    let root = try expression.archive(into: &writer)
                    let copy = try KeyedArchive(parsing: writer.bytes(root: root))
                    #expect(try Expression(archive: copy, at: copy.root) == expression)
                    #expect(try Expression(parsing: expression.formatString) == expression)
                    if kind.name != "NSKeyPathSpecifierExpression" {
                        #expect(copy.archivedClass(of: copy.root) == kind)
                        #expect(copy.fieldNames(of: copy.root).sorted() == archive.fieldNames(of: reference).sorted())
                    }
                } else if kind.isKind(of: "NSPredicate") {
                    counts[kind.name, default: 0] += 1
                    let predicate = try Predicate(archive: archive, at: reference)
                    #expect(try Predicate(parsing: predicate.formatString) == predicate)
                    var writer = KeyedArchiveWriter()
                    let root = try predicate.archive(into: &writer)
                    let copy = try KeyedArchive(parsing: writer.bytes(root: root))
                    #expect(try Predicate(archive: copy, at: copy.root) == predicate)
                }
            }
        }
        #expect(counts["NSFetchRequestExpression", default: 0] >= 4)
        #expect(counts["NSKeyPathExpression", default: 0] >= 25)
    }

    @Test("every value expression of Xcode's mapping models decodes")
    func mappingModels() throws {
        var count = 0
        for file in SharedStores.files(endingIn: "xcmapping.xml") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for piece in text.split(separator: "name=\"valueexpressiondata\"").dropFirst() {
                guard let start = piece.firstIndex(of: ">"), let end = piece.firstIndex(of: "<") else { continue }
                let base64 = String(piece[piece.index(after: start)..<end])
                let data = try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters))
                let archive = try KeyedArchive(parsing: Array(data))
                let expression = try Expression(archive: archive, at: archive.root)
                #expect(try Expression(parsing: expression.formatString) == expression)
                count += 1
            }
        }
        #expect(count >= 23)
    }

    /// Everything that can be reached from the root.
    private func instances(in archive: KeyedArchive) throws -> [KeyedArchive.Reference] {
        var found = [archive.root]
        var seen: Set = [archive.root]
        var next = 0
        while next < found.count {
            let reference = found[next]
            next += 1
            for name in archive.fieldNames(of: reference) {
                let value = try archive.field(name, of: reference)
                let values: [ArchivedValue]
                if case .list? = value {
                    values = try archive.array(value) ?? []
                } else {
                    values = value.map { [$0] } ?? []
                }
                for inner in values.compactMap(\.reference) where seen.insert(inner).inserted { found.append(inner) }
            }
        }
        return found
    }
}
