import CausewayModel
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat

/// Which tables of a step's source can stay as they are, whatever moves the rows: it decides the order of the new
/// tables' columns, and that cells of other entities' columns stay.
struct KeptTables {
    private let source: StoreLayout
    private let columns: RecordColumns
    /// Whether Core Data appends columns to tables that it keeps.
    private let appends: Bool

    init(of from: StepSource, appends: Bool) {
        source = from.layout
        columns = RecordColumns(layout: from.layout, schema: from.schema)
        self.appends = appends
    }

    /// The passes in which cells that no entity of their rows owns, before and after, are carried, where that keeps
    /// their table, and the order of the columns of tables that stay, by name.
    func settled(_ passes: [RowPass], in layout: StoreLayout) -> (passes: [RowPass], order: [String: [String]]) {
        var order: [String: [String]] = [:]
        let sources = Dictionary(grouping: passes, by: \.sourceTable)
        let settled = passes.map { pass in
            guard pass.kind == .entity, sources[pass.sourceTable]?.count == 1,
                let table = layout.table(named: pass.destinationTable)
            else { return pass }
            let carrying = carryingStrays(pass, into: table, of: layout.model)
            guard let kept = try? self.table(carrying, types: table.columns.map(\.declaredType)) else { return pass }
            if kept.columns != pass.destinationColumns { order[table.name] = kept.columns }
            return carrying
        }
        return (settled, order)
    }

    /// How a table stays as it is.
    ///
    /// - Parameters:
    ///   - pass: the only one of the new table.
    ///   - types: the declared types of its columns.
    /// - Returns: how it stays.
    /// - Throws: why it doesn't.
    func table(_ pass: RowPass, types: [String]) throws(KeptTable.Refusal) -> KeptTable {
        guard let before = columns.columns(of: pass.sourceTable) else {
            throw KeptTable.Refusal("its columns aren't known")
        }
        var table = try KeptTable(pass, of: before, types: types, appends: appends)
        for index in table.renumberings.indices {
            let column = before[table.renumberings[index].place].name
            if let possible = numbers(in: column, of: pass.sourceTable) {
                table.renumberings[index].numbers = table.renumberings[index].numbers.filter {
                    possible.contains($0.key)
                }
            }
            do throws(PatchRefusal) {
                try table.renumberings[index].check(in: .table)
            } catch {
                throw KeptTable.Refusal("\(column): \(error)")
            }
        }
        table.renumberings.removeAll { $0.numbers.allSatisfy { $0.key == $0.value } }
        return table
    }

    // MARK: - Cells that no entity of the row owns

    private func carryingStrays(_ pass: RowPass, into table: EntityTable, of model: ManagedObjectModel) -> RowPass {
        var pass = pass
        for column in pass.destinationColumns.indices {
            guard let later = table.columns[column].role.owner(in: model) else { continue }
            let recipes = pass.projections.sorted(by: { $0.key < $1.key }).map(\.value).compactMap {
                $0.cells.indices.contains(column) ? $0.cells[column] : nil
            }
            guard let carried = recipes.first(where: { $0.cell != nil }), let cell = carried.cell,
                case .column(let name) = pass.shape.cells[cell], let owner = owner(of: name.name, in: pass.sourceTable)
            else { continue }
            for number in pass.projections.keys {
                guard case .literal(.null)? = pass.projections[number]?.cells[column],
                    let entity = source.entities.indices.contains(number - 1) ? source.entities[number - 1] : nil,
                    !source.model.isKind(entity, of: owner),
                    let becoming = pass.projections[number]?.entity, !model.isKind(becoming, of: later)
                else { continue }
                pass.projections[number]?.cells[column] = carried
            }
        }
        return pass
    }

    private func column(_ name: String, of table: String) -> Column? {
        source.table(named: table)?.columns.first { $0.name == name }
    }

    /// The entity whose rows, and subentities' rows, have the column's property.
    private func owner(of name: String, in table: String) -> String? {
        column(name, of: table).flatMap { $0.role.owner(in: source.model) }
    }

    /// The Z_ENTs of the entities to which a column's link leads; nil for other columns.
    private func numbers(in name: String, of table: String) -> Set<Int64>? {
        guard case .toOneEntity(let entity, let relationship)? = column(name, of: table)?.role,
            let found = source.model.relationship(relationship, of: entity)?.relationship
        else { return nil }
        return Set(
            source.model.entityAndSubentities(of: found.destination).compactMap { source.entityNumbers[$0] }
                .map(Int64.init))
    }
}

extension CellRecipe {
    /// The cell that is carried, or whose entity number is translated.
    fileprivate var cell: Int? {
        switch self {
        case .carry(let cell), .entityNumber(let cell, _): cell
        default: nil
        }
    }
}
