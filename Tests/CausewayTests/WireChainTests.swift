import CausewayCheckers
import CausewayEngine
import CausewayPreparation
import Foundation
import Testing

/// One store, migrated in place by Core Data over 60 versions. Migrating an older copy of it must give a later one,
/// cell by cell.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct WireChainTests {
    /// A store of the chain, with the version that its metadata names.
    struct Store: CustomTestStringConvertible, Sendable {
        let name: String
        /// The model version's name.
        let version: String
        let frameworkVersion: Int

        var path: String { SharedStores.path("wire/store\(name).wiredatabase") }
        var testDescription: String { name }
    }

    struct Pair: CustomTestStringConvertible, Sendable {
        let older: Store
        let later: Store
        /// Columns that the app changed between the two, or whose cells belong to no attribute of their row.
        var ignored: [String]
        var testDescription: String { "\(older.name) → \(later.name)" }
    }

    /// Stores before 2.53 and after it. 2-53 has `isSilenced` under the renaming identifier of 2.54's `mutedStatus`, an
    /// integer, and has one silenced conversation; no other store has one. 2-54 has new keys.
    static let early = [
        store("2-8", "2.8", 641), store("2-21-1", "2.21.1", 752), store("2-24-1", "2.24.1", 752),
        store("2-31-0", "2.31.0", 754), store("2-39-0", "2.39.0", 847), store("2-46-0", "2.46.0", 851),
        store("2-52-0", "2.52.0", 865),
    ]
    static let late = [
        store("2-57-0", "2.57.0", 865), store("2-59-0", "2.59.0", 865), store("2-60-0", "2.60.0", 865),
        store("2-62-0", "2.62.0", 866), store("2-63-0", "2.63.0", 866), store("2-64-0", "2.64.0", 866),
        store("2-66-0", "2.66.0", 866), store("2-69-0", "2.69.0", 866), store("2-75-0", "2.75.0", 866),
        store("2-77-0", "2.77.0", 866), store("2-78-0", "2.78.0", 866), store("2-82-0", "2.82.0", 977),
        store("2-88-0", "2.88.0", 977), store("2-89-0", "2.89.0", 977), store("2-96-0", "2.96.0", 1044),
        store("2-98-0", "2.98.0", 1132), store("2-99-0", "2.99.0", 1145), store("2-101-0", "2.101.0", 1145),
    ]

    static func store(_ name: String, _ version: String, _ frameworkVersion: Int) -> Store {
        Store(name: name, version: "zmessaging" + version, frameworkVersion: frameworkVersion)
    }

    /// All 300 pairs take minutes on two cores. By default, only neighbours and the longest paths are tried.
    static let hasEveryPair = ProcessInfo.processInfo.environment["CAUSEWAY_EVERY_PAIR"] != nil

    static func pairs(_ stores: [Store]) -> [Pair] {
        stores.indices.flatMap { older in
            stores.indices.dropFirst(older + 1).filter { later in
                let isLong = older == 0 && (later % 4 == 0 || later == stores.count - 1)
                return hasEveryPair || later == older + 1 || isLong
            }.map { pair(stores[older], stores[$0]) }
        }
    }

    static func pairsAcross(_ early: [Store], _ late: [Store]) -> [Pair] {
        early.indices.flatMap { older in
            late.indices.filter { later in
                hasEveryPair || older == early.count - 1 && later % 4 == 0 || later == late.count - 1
            }.map { pair(early[older], late[$0]) }
        }
    }

    /// Users got their handles between 2.21.1 and 2.24.1: the app set two of them.
    static func pair(_ older: Store, _ later: Store) -> Pair {
        let crosses = ["2-8", "2-21-1"].contains(older.name) && !["2-8", "2-21-1"].contains(later.name)
        var columns = crosses ? ["ZUSER.ZHANDLE"] : []
        if older.frameworkVersion < 900, later.frameworkVersion >= 977 { columns += filledInPlace }
        return Pair(older: older, later: later, ignored: columns)
    }

    /// Added at 2.89 and 2.96 by a Core Data that adds columns in place and so fills the rows of all entities of the
    /// table. A store that an older Core Data wrote last is rebuilt, and rows of other entities have NULL there. These
    /// cells belong to no attribute of their row, and Core Data never reads them (InsideCoreDataMigration §7.5).
    static let filledInPlace = ["ZMESSAGE.ZDECRYPTIONERRORCODE", "ZMESSAGE.ZPARTICIPANTSREMOVEDREASON"]

    static let models = SharedStores.path("wire/zmessaging.xcdatamodeld")
    /// Reading 90 versions once is enough for all pairs.
    static let history = Result { try ModelHistory(reading: models, edges: [:]) }
    /// The path skips 2.53: 2.52 has no renaming identifier that ties `isSilenced` to `mutedStatus`.
    static let detour = ["zmessaging2.52.0": "zmessaging2.54.0"]
    static let historyWithDetour = Result { try ModelHistory(reading: models, edges: detour) }

    @Test(
        "an older store becomes the later one, and every object has the text that Core Data gives it",
        arguments: pairs(early) + pairs(late))
    func chain(_ pair: Pair) throws {
        try check(pair, history: Self.history.get())
    }

    @Test(
        "through 2.53 → 2.54 every conversation keeps whether it is silenced, as an integer",
        arguments: [store("2-46-0", "2.46.0", 851), store("2-52-0", "2.52.0", 865), store("2-53-0", "2.53.0", 865)],
        [late[0], late[8], late[17]])
    func converted(older: Store, later: Store) throws {
        var pair = Self.pair(older, later)
        if older.name == "2-53-0" { pair.ignored.append("ZCONVERSATION.ZMUTEDSTATUS") }
        let folder = try TemporaryFolder()
        let history = try Self.history.get()
        try check(pair, history: history)
        let result = try migrate(pair, in: folder, history: history).store
        let silenced = try StoreContent.rows(
            "SELECT Z_PK, ZISSILENCED AS S FROM ZCONVERSATION", folder.copyStore(older.path, as: "before"))
        #expect(try StoreContent.rows("SELECT Z_PK, ZMUTEDSTATUS AS S FROM ZCONVERSATION", result) == silenced)
        #expect(silenced.contains { $0.hasSuffix("|1") } == (older.name == "2-53-0"))
    }

    @Test("2-53 becomes what Apple's 2-54 holds, conversation by conversation, except the silenced one")
    func heavyweight() throws {
        let folder = try TemporaryFolder()
        let later = Self.store("2-54-0", "2.54.0", 865)
        let result = try migrate(
            Self.pair(Self.store("2-53-0", "2.53.0", 865), later), in: folder, history: Self.history.get()
        ).store
        let sql = "SELECT hex(ZREMOTEIDENTIFIER_DATA) AS I, ZMUTEDSTATUS FROM ZCONVERSATION ORDER BY 1"
        let (ours, theirs) = (
            try StoreContent.rows(sql, result), try StoreContent.rows(sql, folder.copyStore(later.path, as: "apple"))
        )
        #expect(ours.count == theirs.count)
        #expect(zip(ours, theirs).filter { $0 != $1 }.count == 1)
    }

    @Test(
        "from before 2.53 to after it, on a path that skips 2.53, as the later stores were made",
        arguments: pairsAcross(early, late))
    func across(_ pair: Pair) throws {
        try check(pair, history: Self.historyWithDetour.get())
    }

    @Test(
        "with the later store as template, the join tables have its names too",
        arguments: zip(early + late, (early + late).dropFirst()).map { pair($0, $1) }.filter {
            $0.later.name != "2-57-0"
        }
    )
    func template(_ pair: Pair) throws {
        let folder = try TemporaryFolder()
        let result = try migrate(pair, in: folder, history: Self.history.get(), template: true).store
        let found = try Checker.compare(
            result, folder.copyStore(pair.later.path, as: "reference"), ignoring: pair.ignored)
        #expect(found.filter { !["column order", "index missing", "index extra"].contains($0.kind) }.isEmpty)
        let hashes = try Checker.hashes(result)
        #expect(hashes.status == 0, "\(hashes.text)")
    }

    private func migrate(
        _ pair: Pair, in folder: borrowing TemporaryFolder, history: ModelHistory, template: Bool = false
    ) throws -> (store: String, warnings: [String]) {
        let source = try folder.copyStore(pair.older.path, as: "source")
        let output = folder.path("result")
        var request = MigrationRequest(
            store: source, models: Self.models, output: output, target: pair.later.version,
            options: EngineOptions(jobs: 1))
        request.frameworkVersion = pair.later.frameworkVersion
        // The file of one external value is missing: its row is carried as it is and written to the rejects file.
        (request.badRows, request.rejects) = (.quarantine, folder.path("rejects"))
        if template { request.schemaTemplate = try folder.copyStore(pair.later.path, as: "template") }
        return (output, try Migration(request, history: history).run().warnings)
    }

    private func check(_ pair: Pair, history: ModelHistory) throws {
        let folder = try TemporaryFolder()
        let (result, warnings) = try migrate(pair, in: folder, history: history)
        let schema = try Checker.schema(result)
        #expect(schema.status == 0, "\(schema.text)")
        let found = try Checker.compare(
            result, folder.copyStore(pair.later.path, as: "reference"), ignoring: pair.ignored)
        // Core Data keeps stale indexes and appended columns. In a pair inside UserClient, an order that isn't part of
        // the model decides which side names the join table (InsideStoreFormat §5.3).
        let unexplained = found.filter { difference in
            switch difference.kind {
            case "column order", "index missing", "index extra": false
            case "table missing", "table extra": !difference.where.hasSuffix("CLIENTS")
            // The same order decides which of two join columns to the same entity has the suffix.
            case "column missing", "column extra":
                !(difference.where.hasPrefix("Z_") && difference.what.contains("USERS"))
            default: true
            }
        }
        #expect(unexplained.isEmpty)
        for table in found where table.kind == "table extra" && table.where.hasSuffix("CLIENTS") {
            #expect(warnings.contains { $0.contains(table.where) }, "Core Data has chosen the other name")
        }
    }
}
