import CausewayModel
import CausewayPlist
import CausewaySQLiteFile
import CausewayStoreFormat

/// What a damaged store says about itself: its tables, metadata and model, from the trees as long as they can be read,
/// else from any leaf of the file.
struct SalvagedSchema {
    /// By lower-cased name.
    private(set) var tables: [String: StoreSchema.Table] = [:]
    private(set) var metadata: StoreMetadata?
    private(set) var cachedModel: ManagedObjectModel?

    init(_ file: SalvageFile) {
        let isBroken = !Self.read(root: 1, file) { _, cells in
            take(schemaRow: cells)
            return true
        }
        if let table = tables["z_metadata"] {
            _ = Self.read(root: Int(clamping: table.rootPage), file) { _, cells in
                take(metadata: cells)
                return metadata == nil
            }
        }
        if let table = tables["z_modelcache"] {
            _ = Self.read(root: Int(clamping: table.rootPage), file) { _, cells in
                take(cache: cells)
                return cachedModel == nil
            }
        }
        guard isBroken || metadata == nil || cachedModel == nil else { return }
        for number in 1...max(1, file.pageCount) {
            guard let page = file.page(number), page.isTableLeaf else { continue }
            for case let cells? in file.rows(of: page).map(\.cells) {
                if isBroken { take(schemaRow: cells) }
                if metadata == nil { take(metadata: cells) }
                if cachedModel == nil { take(cache: cells) }
            }
        }
    }

    /// Lends the rows of a tree that are whole, until `body` has seen enough: a damaged root may lead to a large
    /// table's tree.
    ///
    /// - Returns: false where some of it can't be read.
    private static func read(root: Int, _ file: SalvageFile, _ body: (Int64, [CellValue]) -> Bool) -> Bool {
        var claimed = PageSet(pageCount: file.pageCount)
        let tree = SalvagedTree(root: root, in: file, claimed: &claimed)
        var isWhole = tree.unreadable.isEmpty
        for number in tree.leaves {
            guard let page = file.page(number) else { continue }
            for row in file.rows(of: page) {
                guard let cells = row.cells else {
                    isWhole = false
                    continue
                }
                guard body(row.rowid, cells) else { return isWhole }
            }
        }
        return isWhole
    }

    /// The entities that the store lists, by number, without those of history and CloudKit. From the table's tree, else
    /// from any leaf with such rows.
    func entityRows(_ file: SalvageFile) -> [StoreSchema.PrimaryKeyRow] {
        var found: [Int64: StoreSchema.PrimaryKeyRow] = [:]
        // `Z_ENT, Z_NAME, Z_SUPER, Z_MAX`; the first is the rowid.
        func take(_ key: Int64, _ cells: [CellValue]) {
            guard cells.count == 4, cells[0] == .null, case .text(let name) = cells[1], !name.isEmpty,
                case .integer(let parent) = cells[2], case .integer(let maximum) = cells[3],
                (1..<Int64(HistoryLayout.firstNumber)).contains(key), found[key] == nil
            else { return }
            found[key] = StoreSchema.PrimaryKeyRow(number: key, name: name, parent: parent, maximum: maximum)
        }
        let isWhole = tables["z_primarykey"].map { table in
            Self.read(root: Int(clamping: table.rootPage), file) { key, cells in
                take(key, cells)
                return true
            }
        }
        if isWhole != true || found.isEmpty {
            for number in 1...max(1, file.pageCount) {
                guard let page = file.page(number), page.isTableLeaf else { continue }
                for row in file.rows(of: page) { if let cells = row.cells { take(row.rowid, cells) } }
            }
        }
        return found.values.sorted { $0.number < $1.number }
    }

    /// `type, name, tbl_name, rootpage, sql`
    private mutating func take(schemaRow cells: [CellValue]) {
        guard cells.count == 5, case .text("table") = cells[0], case .text(let name) = cells[1],
            case .integer(let root) = cells[3], root > 0, case .text(let sql) = cells[4],
            let columns = Self.columns(sql), tables[name.lowercased()] == nil
        else { return }
        tables[name.lowercased()] = StoreSchema.Table(
            name: name, rootPage: root, columns: columns,
            isWithoutRowID: sql.uppercased().hasSuffix("WITHOUT ROWID"))
    }

    /// `Z_VERSION, Z_UUID, Z_PLIST`; the first is the rowid.
    private mutating func take(metadata cells: [CellValue]) {
        guard metadata == nil, cells.count == 3, case .text(let uuid) = cells[1], uuid.utf8.count == 36,
            case .blob(let plist) = cells[2], let tree = try? PropertyList(parsing: plist)
        else { return }
        metadata = try? StoreMetadata(uuid: uuid, propertyList: tree)
    }

    private mutating func take(cache cells: [CellValue]) {
        guard cachedModel == nil, cells.count == 1, case .blob(let content) = cells[0] else { return }
        cachedModel = try? ModelReader.model(cache: content)
    }

    /// The columns of a `CREATE TABLE`, whose text is Core Data's: words, commas and brackets, with a comma between two
    /// columns.
    private static func columns(_ sql: String) -> [StoreSchema.Column]? {
        guard sql.uppercased().hasPrefix("CREATE TABLE"), let open = sql.firstIndex(of: "(") else { return nil }
        var parts = [""]
        var depth = 0
        scan: for character in sql[sql.index(after: open)...] {
            switch character {
            case "(": depth += 1
            case ")":
                if depth == 0 { break scan }
                depth -= 1
            case "," where depth == 0:
                parts.append("")
                continue
            default: break
            }
            parts[parts.count - 1].append(character)
        }
        let rules: Set<String> = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
        return parts.compactMap { part in
            let words = part.split(whereSeparator: \.isWhitespace).map { $0.filter { !"\"`[]".contains($0) } }
            guard let name = words.first, !rules.contains(name.uppercased()) else { return nil }
            return StoreSchema.Column(words.joined(separator: " "))
        }
    }
}
