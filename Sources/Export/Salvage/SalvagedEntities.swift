import CausewaySQLiteFile
import CausewayStoreFormat

/// The entities of a damaged store of which no model is known, as Z_PRIMARYKEY lists them. Where it doesn't list them all,
/// the tables say which there are: their names, in the order of Z_ENT, and the numbers in their rows.
struct SalvagedEntities {
    /// By Z_ENT − 1, like the others.
    private(set) var names: [String] = []
    /// Z_ENT of the parent; 0 for a root.
    private(set) var parents: [Int] = []
    /// Z_ENT of the root above, or its own.
    private(set) var roots: [Int] = []
    /// Whether Z_PRIMARYKEY lists them all.
    let areListed: Bool
    private var taken: Set<String> = []

    /// Whether it is an entity's table: not Core Data's house, its history's, CloudKit's or a table of links.
    static func holdsObjects(_ table: StoreSchema.Table) -> Bool {
        let name = table.name.uppercased()
        return name.hasPrefix("Z") && !name.hasPrefix("Z_")
            && table.columns.prefix(3).map { $0.name.uppercased() } == ["Z_PK", "Z_ENT", "Z_OPT"]
    }

    /// An entity's table, and how many of its rows have which Z_ENT.
    private struct Numbered {
        let table: StoreSchema.Table
        let counts: [Int: Int]

        var rows: Int { counts.values.reduce(0, +) }
        /// Of most rows.
        var usual: Int? { counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }

        /// Whether more rows have an unlisted number than damage explains.
        func hasMore(than listed: Int) -> Bool {
            counts.contains { $0.key > listed && $0.value * 100 >= rows && ($0.value > 1 || rows == 1) }
        }
    }

    /// nil where there is no entity's table either.
    init?(_ schema: SalvagedSchema, _ file: SalvageFile) {
        let rows = schema.entityRows(file)
        let tables = schema.tables.filter { Self.holdsObjects($0.value) }.sorted { $0.key < $1.key }
            .map { Numbered(table: $0.value, counts: Self.counts(of: $0.value, in: file)) }
        // A parent precedes its children.
        if !rows.isEmpty, rows.map(\.number) == Array(1...Int64(rows.count)),
            rows.allSatisfy({ $0.parent >= 0 && $0.parent < $0.number }),
            rows.count(where: { $0.parent == 0 }) >= tables.count,
            !tables.contains(where: { $0.hasMore(than: rows.count) })
        {
            areListed = true
            for row in rows { add(row.name, parent: Int(row.parent)) }
            return
        }
        areListed = false
        guard !tables.isEmpty else { return nil }
        let known = Dictionary(uniqueKeysWithValues: rows.map { (Int($0.number), $0) })
        let proper = Dictionary(
            schema.metadata?.entityHashes.keys.map { ("z" + $0.lowercased(), $0) } ?? [],
            uniquingKeysWith: { min($0, $1) })
        let ordered = Self.ordered(tables)
        for (place, table) in ordered.enumerated() {
            // Others are damaged.
            let least = ordered[..<place].compactMap(\.usual).max() ?? 0
            let most = ordered[(place + 1)...].compactMap(\.usual).min() ?? .max
            let numbers = table.counts.keys.filter { $0 > least && $0 < most }
            // An entity without rows may have a number between those of two tables: it is taken for a subentity of the
            // first.
            while let first = numbers.min(), let root = roots.last, names.count + 1 < first {
                add(known[names.count + 1]?.name, parent: root)
            }
            let root = names.count + 1
            let name = known[root].flatMap { $0.parent == 0 ? $0.name : nil }
            add(name ?? proper[table.table.name.lowercased()] ?? String(table.table.name.dropFirst()), parent: 0)
            while let largest = numbers.max(), names.count < largest {
                let row = known[names.count + 1]
                let parent = row.map { Int($0.parent) } ?? root
                add(row?.name, parent: (root...names.count).contains(parent) ? parent : root)
            }
        }
    }

    /// Tables by the numbers of their rows; one without rows comes after the one before it by name, as numbers follow
    /// names.
    private static func ordered(_ tables: [Numbered]) -> [Numbered] {
        var last = 0
        return tables.enumerated().map { place, table in
            last = table.usual ?? last
            return (key: (last, table.usual == nil ? 1 : 0, place), table: table)
        }.sorted { $0.key < $1.key }.map(\.table)
    }

    private mutating func add(_ name: String?, parent: Int) {
        let number = names.count + 1
        let root = parent == 0 ? number : roots[parent - 1]
        let wanted = name ?? "\(names.indices.contains(root - 1) ? names[root - 1] : "")_\(number)"
        names.append(taken.insert(wanted).inserted ? wanted : "\(wanted)_\(number)")
        parents.append(parent)
        roots.append(root)
    }

    /// Numbers above this are those of history and CloudKit, or damage.
    private static let largest = Int64(HistoryLayout.firstNumber) - 1

    private static func counts(of table: StoreSchema.Table, in file: SalvageFile) -> [Int: Int] {
        var claimed = PageSet(pageCount: file.pageCount)
        var counts: [Int: Int] = [:]
        for leaf in SalvagedTree(root: Int(clamping: table.rootPage), in: file, claimed: &claimed).leaves {
            for row in file.page(leaf).map({ file.rows(of: $0) }) ?? [] {
                guard let cells = row.cells, cells.count > 1, case .integer(let number) = cells[1],
                    (1...largest).contains(number)
                else { continue }
                counts[Int(number), default: 0] += 1
            }
        }
        return counts
    }
}
