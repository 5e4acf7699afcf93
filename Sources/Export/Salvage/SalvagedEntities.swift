import CausewaySQLiteFile
import CausewayStoreFormat

/// The entities of a damaged store of which no model is known, as Z_PRIMARYKEY lists them. Where it doesn't list them
/// all, the tables say which there are: their names, in the order of Z_ENT, and the numbers in their rows.
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
            for row in rows {
                if row.parent == 0 { add(row.name) } else { add(row.name, below: Int(row.parent)) }
            }
            return
        }
        areListed = false
        guard !tables.isEmpty else { return nil }
        let known = Dictionary(uniqueKeysWithValues: rows.map { (Int($0.number), $0) })
        let proper = Dictionary(
            schema.metadata?.entityHashes.keys.map { ("z" + $0.lowercased(), $0) } ?? [],
            uniquingKeysWith: { min($0, $1) })
        func name(_ table: StoreSchema.Table) -> String {
            let root = known[names.count + 1].flatMap { $0.parent == 0 ? $0.name : nil }
            return root ?? proper[table.name.lowercased()] ?? String(table.name.dropFirst())
        }
        var empty: [Numbered] = []
        let ordered = Self.ordered(tables)
        for (place, table) in ordered.enumerated() {
            // Others are damaged.
            let least = ordered[..<place].compactMap(\.usual).max() ?? 0
            let most = ordered[(place + 1)...].compactMap(\.usual).min() ?? .max
            if table.usual == nil {
                // Any number will do that rows don't have.
                let next = ordered[(place + 1)...].flatMap(\.counts.keys).min() ?? .max
                if names.count + 1 < next { add(name(table.table)) } else { empty.append(table) }
                continue
            }
            let numbers = table.counts.keys.filter { $0 > least && $0 < most }
            // An entity without rows may have a number between those of two tables: it is taken for a subentity of the
            // first.
            while let first = numbers.min(), let root = roots.last, names.count + 1 < first {
                add(known[names.count + 1]?.name, below: root)
            }
            let root = names.count + 1
            add(name(table.table))
            while let largest = numbers.max(), names.count < largest {
                let row = known[names.count + 1]
                let parent = row.map { Int($0.parent) } ?? root
                add(row?.name, below: (root...names.count).contains(parent) ? parent : root)
            }
        }
        for table in empty { add(name(table.table)) }
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

    /// A root.
    private mutating func add(_ name: String) { append(name, parent: 0, root: names.count + 1) }

    private mutating func add(_ name: String?, below parent: Int) {
        let root = roots[parent - 1]
        append(name ?? "\(names[root - 1])_\(names.count + 1)", parent: parent, root: root)
    }

    private mutating func append(_ name: String, parent: Int, root: Int) {
        names.append(taken.insert(name).inserted ? name : "\(name)_\(names.count + 1)")
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
