import CausewayPlatform
import CausewaySQLite
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Copies keep, patch and free trees; SQLite and the writer go on in them", .timeLimit(.minutes(600)))
struct KeepingTortureTests {
    /// `CAUSEWAY_KEEP_SEEDS=FIRST-LAST` runs other seeds, and any number of them.
    private static let seeds: [UInt64] = {
        let bounds = ProcessInfo.processInfo.environment["CAUSEWAY_KEEP_SEEDS"]?.split(separator: "-").compactMap {
            UInt64($0)
        }
        guard let bounds, bounds.count == 2, bounds[0] <= bounds[1] else { return Array(1...40) }
        return Array(bounds[0]...bounds[1])
    }()

    @Test("random databases and fates", arguments: seeds)
    func torture(seed: UInt64) throws {
        var random = SeededNumbers(seed &* 977)
        let kept = try KeptStore(seed: seed)
        // A full auto_vacuum cuts free pages off.
        if kept.autoVacuum != 1 { #expect(try KeptStore.contains(KeptStore.marker, in: kept.store.bytes)) }
        let copy = try Self.copy(kept, &random)
        try Self.checkCopied(kept, copy)
        try Self.changeSchema(kept, copy, &random)
        try Self.fill(kept, copy, &random)
        let connection = try copy.open()
        #expect(try NewStore.check(connection) == "ok", "filled")
        for table in kept.tables {
            #expect(try Self.rows(of: table.name, on: connection) == table.wanted, "\(table.name) \(table.fate)")
        }
        if kept.autoVacuum == 1 { try connection.execute("PRAGMA auto_vacuum = FULL") }
        for round in 0..<6 {
            let sql = Self.change(kept, &random)
            try connection.execute(sql)
            #expect(try NewStore.check(connection) == "ok", "\(round): \(sql)")
        }
    }

    /// As a clone half of the time: a plain copy of the file stands for one.
    private static func copy(_ kept: KeptStore, _ random: inout SeededNumbers) throws -> NewStore {
        let source = try kept.source()
        let plan = try kept.plan(of: source)
        let target = try NewStore(copying: kept.store)
        let length = kept.pageSize * (random.below(60) + 1)
        let isClone = random.below(2) == 0
        if !isClone { try FileManager.default.removeItem(atPath: target.path) }
        let copy =
            try isClone
            ? DatabaseCopy.resume(source, plan, at: target.path, isClone: true, chunkLength: length)
            : DatabaseCopy.begin(source, plan, at: target.path, sharing: false, chunkLength: length)
        var counts = PatchCounts(plan.patches)
        for chunk in (0..<copy.chunkCount).shuffled(using: &random) { counts.add(try copy.copy(chunk)) }
        try expect(counts, of: kept)
        return target
    }

    private static func expect(_ counts: PatchCounts, of kept: KeptStore) throws {
        let pairs = try IntegerMap(KeptTable.values, others: .stay).pairs
        let patched = kept.tables.filter { $0.fate == .patch }
        #expect(counts.trees.count == patched.count * 2)
        for (index, table) in patched.enumerated() {
            var entities = PatchCounts.Column(values: pairs.map { _ in 0 })
            var others = entities
            for row in table.rows {
                guard case .integer(let e) = row.cells[0] else {
                    entities.nulls += 1
                    others.leftOut += 1
                    continue
                }
                if let pair = pairs.firstIndex(where: { $0.old == e }) { entities.values[pair] += 1 }
                guard KeptTable.odd.contains(e) else {
                    others.leftOut += 1
                    continue
                }
                guard case .integer(let f) = row.cells[1], let pair = pairs.firstIndex(where: { $0.old == f }) else {
                    others.others += 1
                    continue
                }
                others.values[pair] += 1
            }
            #expect(counts.trees[index * 2].records == table.rows.count)
            #expect(counts.trees[index * 2].columns == [entities, others])
            #expect(counts.trees[index * 2 + 1].records == table.rows.count)
            #expect(counts.trees[index * 2 + 1].columns == [entities])
        }
    }

    private static func checkCopied(_ kept: KeptStore, _ copy: NewStore) throws {
        #expect(try !KeptStore.contains(KeptStore.marker, in: copy.bytes))
        let connection = try copy.open()
        // The indexes of an emptied table that are kept have entries for no rows yet.
        let isComplete = kept.tables.allSatisfy { $0.fate != .refill || $0.rows.isEmpty }
        if isComplete {
            #expect(try NewStore.check(connection) == "ok", "copied")
        } else {
            let report = try NewStore.check(connection)
            #expect(
                report.split(separator: "; ").allSatisfy { $0.hasPrefix("wrong # of entries in index t") }, "\(report)")
        }
        for table in kept.tables where table.fate == .keep || table.fate == .patch {
            #expect(try rows(of: table.name, on: connection) == table.wanted, "\(table.name) \(table.fate)")
        }
    }

    static func rows(of table: String, on connection: borrowing Connection) throws -> [MadeRow] {
        try NewStore.rows("SELECT rowid, * FROM \(table) ORDER BY rowid", on: connection).map { cells in
            guard case .integer(let rowid) = cells[0] else { throw CocoaError(.coderInvalidValue) }
            return MadeRow(rowid, Array(cells.dropFirst()))
        }
    }

    /// Emptied tables are dropped, others made; names and columns change.
    private static func changeSchema(
        _ kept: KeptStore, _ copy: NewStore, _ random: inout SeededNumbers
    ) throws {
        let connection = try copy.open()
        try connection.execute("BEGIN; DROP TABLE used")
        for table in kept.tables {
            switch table.fate {
            case .replace: try connection.execute("DROP TABLE \(table.name)")
            case .keep where random.below(2) == 0:
                try connection.execute("ALTER TABLE \(table.name) RENAME COLUMN x TO y")
            default: break
            }
        }
        for table in kept.tables where table.fate == .replace { try connection.execute(KeptStore.schema(table.name)) }
        try connection.execute("COMMIT")
        try connection.close()
    }

    /// Rows of replaced and refilled tables, by pages; stopped and gone on with at a random place.
    private static func fill(_ kept: KeptStore, _ copy: NewStore, _ random: inout SeededNumbers) throws {
        var work: [FillStep] = []
        for table in kept.tables where table.fate == .replace || table.fate == .refill {
            let root = try copy.root(table.name)
            for leaves in try NewStore.pack(table.rows, pageSize: kept.pageSize, batch: random.below(90) + 1) {
                work.append(FillStep(root: root, kind: .table, leaves: leaves))
            }
            guard table.fate == .replace else { continue }
            for (column, suffix) in [(0, "e"), (3, "p")] {
                let root = try copy.root(table.name + suffix)
                // The order of an index: what SQLite gives for the rows, which are in the source.
                let sql =
                    column == 0
                    ? "SELECT e, x, rowid FROM \(table.name) ORDER BY e, x, rowid"
                    : "SELECT p, rowid FROM \(table.name) ORDER BY p DESC, rowid"
                let entries = try kept.store.rows(sql)
                guard !entries.isEmpty else { continue }
                for leaves in try NewStore.pack(entries, pageSize: kept.pageSize, pagesPerBatch: random.below(9) + 1) {
                    work.append(FillStep(root: root, kind: .index, leaves: leaves))
                }
            }
        }
        try FillStep.run(work, in: copy)
    }

    private static func change(_ kept: KeptStore, _ random: inout SeededNumbers) -> String {
        let (table, other) = (random.pick(kept.tables).name, random.pick(kept.tables).name)
        let divisor = random.below(5) + 1
        return switch random.below(10) {
        case 0: "DELETE FROM \(table) WHERE rowid % \(divisor) = 0"
        case 1: "UPDATE \(table) SET p = zeroblob(\(random.below(3_000))) WHERE rowid % \(divisor) = 0"
        case 2: "UPDATE \(table) SET e = 77 WHERE rowid % \(divisor) = 0"
        case 3: "INSERT INTO \(table)(e, p) SELECT e, p FROM \(other)"
        case 4: "PRAGMA incremental_vacuum(\(random.below(20)))"
        case 5: "VACUUM"
        case 6: "CREATE TABLE IF NOT EXISTS extra(a, b); INSERT INTO extra SELECT e, p FROM \(table)"
        case 7: "DROP TABLE IF EXISTS extra; PRAGMA incremental_vacuum"
        case 8: "REINDEX \(table)"
        default: "BEGIN; DELETE FROM \(table); ROLLBACK; PRAGMA incremental_vacuum"
        }
    }
}

/// A batch of leaves for one tree.
struct FillStep {
    let root: Int
    let kind: TreeKind
    let leaves: PackedLeaves

    static func run(_ steps: [FillStep], in store: NewStore) throws {
        var writer = try DatabaseWriter(store.file())
        var tree: TreeBuilder?
        for step in steps {
            if tree?.root != step.root {
                try tree.take()?.finish(with: &writer)
                tree = try TreeBuilder(step.kind, root: step.root, on: writer)
            }
            try tree?.add(step.leaves, to: &writer)
        }
        try tree.take()?.finish(with: &writer)
        try writer.finish(syncs: false)
    }
}
