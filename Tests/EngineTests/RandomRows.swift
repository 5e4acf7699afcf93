import CausewayModel
import CausewayStoreFormat

/// Rows for every table of a layout, with a value in every cell, even where the row's entity lacks the attribute.
struct RandomRows {
    let layout: StoreLayout
    private var model: ManagedObjectModel { layout.model }
    /// Keys by entity.
    private var keys: [String: [Int]] = [:]

    init(_ layout: StoreLayout) {
        self.layout = layout
    }

    /// `count` rows in each table; concrete entities only.
    mutating func statements(_ count: Int, _ random: inout Seeded) -> String {
        var rows: [(table: EntityTable, entity: String, key: Int)] = []
        for table in layout.tables {
            let kinds = layout.entities.filter {
                model.root(of: $0) == table.rootEntity && model.entities[$0]?.isAbstract == false
            }
            for key in 1...count {
                guard let entity = kinds.randomElement(using: &random) else { continue }
                keys[entity, default: []].append(key)
                rows.append((table, entity, key))
            }
        }
        var result = ""
        for row in rows {
            var cells: [String] = []
            for column in row.table.columns {
                cells.append(cell(column, row.entity, row.key, cells, row.table, &random))
            }
            result += "INSERT INTO \(row.table.name) VALUES (\(cells.joined(separator: ", ")));\n"
        }
        for join in layout.joinTables { result += statements(of: join, &random) }
        return result
    }

    private func keys(kindOf entity: String) -> [Int] {
        keys.filter { model.isKind($0.key, of: entity) }.flatMap(\.value).sorted()
    }

    private func number(of key: Int, kindOf entity: String) -> Int {
        let owner = keys.first { model.isKind($0.key, of: entity) && $0.value.contains(key) }?.key
        return owner.flatMap { layout.entityNumbers[$0] } ?? 0
    }

    private func cell(
        _ column: Column, _ entity: String, _ key: Int, _ before: [String], _ table: EntityTable,
        _ random: inout Seeded
    ) -> String {
        switch column.role {
        case .primaryKey: return String(key)
        case .entityNumber: return String(layout.entityNumbers[entity] ?? 0)
        case .optimisticLock: return String(key % 3)
        case .attribute: return value(column, key, &random)
        case .toOne(let owner, let name):
            let destination = model.relationship(name, of: owner)?.relationship.destination ?? ""
            return link(to: destination, isOwn: model.isKind(entity, of: owner), &random)
        case .toOneEntity(let owner, let name):
            let destination = model.relationship(name, of: owner)?.relationship.destination ?? ""
            guard model.isKind(entity, of: owner) else { return "1" }
            // The key's column comes before it, wherever its group is.
            let place = table.columns.firstIndex { $0.role == .toOne(entity: owner, relationship: name) }
            guard let place, place < before.count, let target = Int(before[place]) else { return "NULL" }
            return String(number(of: target, kindOf: destination))
        case .virtualToOne(let owner, let name):
            let destination = model.relationship(name, of: owner)?.relationship.destination ?? ""
            return link(to: owner, isOwn: model.isKind(entity, of: destination), &random)
        case .orderKey, .virtualOrderKey: return String(key * 1_024)
        }
    }

    private func link(to entity: String, isOwn: Bool, _ random: inout Seeded) -> String {
        guard isOwn else { return "1" }
        return Bool.random(using: &random)
            ? keys(kindOf: entity).randomElement(using: &random).map(String.init) ?? "NULL" : "NULL"
    }

    private func isBoolean(_ column: Column) -> Bool {
        guard case .attribute(let owner, let path) = column.role else { return false }
        return model.attribute(path, of: owner)?.attribute.type == .boolean
    }

    private func value(_ column: Column, _ key: Int, _ random: inout Seeded) -> String {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return "NULL" }
        switch column.declaredType {
        case "VARCHAR": return "'\(column.name) \(key)'"
        case "INTEGER": return String(isBoolean(column) ? key % 2 : key)
        case "BLOB": return "x'01" + (String(key + 0x1_0000, radix: 16).suffix(4)) + "'"
        default: return "\(key).5"
        }
    }

    private func statements(of join: JoinTable, _ random: inout Seeded) -> String {
        guard let target = model.relationship(join.relationship, of: join.owner)?.relationship.destination else {
            return ""
        }
        var result = ""
        for owner in keys(kindOf: join.owner) {
            for other in keys(kindOf: target) where Int.random(in: 0..<3, using: &random) == 0 {
                var cells = [owner, other]
                if join.ownerOrderColumn != nil { cells.append(owner * 1_024) }
                if join.destinationOrderColumn != nil { cells.append(other * 1_024) }
                result +=
                    "INSERT OR IGNORE INTO \(join.name) VALUES (\(cells.map(String.init).joined(separator: ", ")));\n"
            }
        }
        return result
    }
}
