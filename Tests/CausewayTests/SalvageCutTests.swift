import Causeway
import Foundation
import Testing

/// Salvage of stores whose file ends too early, and of rows whose overflow chain breaks.
@Suite("Salvage of cut stores", .timeLimit(.minutes(60)))
struct SalvageCutTests {
    private typealias Row = [String: Any]

    /// The rows of a salvage's files, by URI.
    private static func rows(
        _ summary: SalvageSummary, _ file: KeyPath<SalvageSummary.Entity, String?>
    ) throws -> [String: Row] {
        var result: [String: Row] = [:]
        for name in summary.entities.compactMap({ $0[keyPath: file] }) {
            let bytes = try Data(contentsOf: URL(filePath: summary.output + "/" + name))
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let row = try #require(try JSONSerialization.jsonObject(with: line) as? Row)
                result[try #require(row["id"] as? String)] = row
            }
        }
        return result
    }

    /// Whether each value of a row is there, is cut, or is missing, and none is made up.
    private static func isPart(_ row: Row, of whole: Row) -> Bool {
        row.allSatisfy { name, value in
            guard let original = whole[name] else { return false }
            if value is NSNull { return true }
            if let text = value as? String, let original = original as? String {
                // A character, or three bytes in base64, may be cut too.
                return original.hasPrefix(text) || original.hasPrefix(text.dropLast(4))
            }
            return (value as? NSNumber) == (original as? NSNumber)
        }
    }

    private static let model = SharedStores.project.appending(path: "Fixtures/Orchard/Orchard.xcdatamodeld")
        .path(percentEncoded: false)

    @Test("wherever a file ends, every row that SQLite reads is there, and nothing is made up", arguments: 0..<6)
    func cut(part: Int) throws {
        let folder = try TemporaryFolder()
        let store = try SalvageTests.store(in: folder, rows: 400)
        let whole = try Self.rows(
            try StoreExport(store: store, output: folder.path("Whole")).salvage(), \.file)
        var bytes = try Data(contentsOf: URL(filePath: store))
        // Else SQLite compares the length with the number of pages, and reads nothing.
        bytes[95] ^= 0xFF
        var incomplete = 0
        for round in 0..<10 {
            let length = bytes.count - 1 - (part * 10 + round) * 1_237
            try bytes.prefix(length).write(to: URL(filePath: store))
            let readable = try SalvageTests.readable(store)
            var export = StoreExport(store: store, output: folder.path("Out-\(round)"))
            export.models = [Self.model]
            let summary = try export.salvage()
            let (rows, parts) = (try Self.rows(summary, \.file), try Self.rows(summary, \.incompleteFile))
            let uris = Array(rows.keys) + Array(parts.keys)
            let found = Set(uris.map { String($0.split(separator: "/").suffix(2).joined()) })
            for (entity, keys) in readable {
                #expect(keys.filter { !found.contains(entity + $0.dropLast()) } == [], "\(length): \(entity)")
            }
            for (uri, row) in rows {
                #expect(NSDictionary(dictionary: row) == whole[uri].map(NSDictionary.init(dictionary:)), "\(uri)")
            }
            for (uri, row) in parts { #expect(whole[uri].map { Self.isPart(row, of: $0) } == true, "\(uri): \(row)") }
            #expect(Set(rows.keys).isDisjoint(with: parts.keys))
            #expect(parts.isEmpty || summary.damage.reduce(0) { $0 + $1.brokenRows } >= parts.count)
            incomplete += parts.count
        }
        #expect(part > 0 || incomplete > 0)
    }
}
