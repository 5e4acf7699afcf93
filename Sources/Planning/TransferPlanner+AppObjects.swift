import CausewaySQLite
import CausewayStoreFormat

extension TransferPlanner {
    /// Objects that aren't Core Data's, and whether they are carried.
    struct CarriedObjects {
        var passes: [RowPass] = []
        /// To create after the rows are in; tables among them before.
        var objects: [StoreSchema.Object] = []
        var lost: [AppObjectCarrier.Lost] = []
        var warnings: [String] = []
        /// Of every table of the new store.
        var indexes: [TableIndex] = []
    }

    /// Carries the app's own tables with their rows, and indexes, triggers and views if everything that they name still
    /// exists.
    /// `mirrored`: tables of CloudKit mirroring, which are carried too.
    /// `schema` is the source's, nil if there are only the model's tables; `known` are the indexes that Core Data
    /// itself makes. Throws `PlanError` for names that can't stand in a statement, `StoreFormatError` for a schema made
    /// by hand.
    func carried(
        _ appObjects: [StoreSchema.Object], schema: StoreSchema?, renames: SchemaRenames,
        into destination: consuming DestinationSchema, _ known: [TableIndex], mirrored: MirroredTables? = nil
    ) throws -> CarriedObjects {
        let appObjects = appObjects + (mirrored?.objects ?? [])
        var result = CarriedObjects()
        guard let schema, !appObjects.isEmpty else {
            result.indexes = try destination.indexes(known)
            return result
        }
        var carrier = try AppObjectCarrier(schema, renames: renames, into: destination)
        try carrier.carry(appObjects)
        result.objects = carrier.carried
        result.lost = carrier.lost
        result.warnings = carrier.warnings
        result.indexes = try carrier.destination.indexes(known)
        let tables = result.objects.filter { $0.kind == .table }.compactMap { schema.table($0.name) }
        for table in tables {
            if let mirrored, mirrored.contains(table: table.name) {
                result.passes.append(try mirrorPass(table, mirrored, schema))
            } else {
                result.passes.append(try appTablePass(table))
            }
        }
        return result
    }

    /// A pass that carries a table of the app's own as it is.
    private func appTablePass(_ table: StoreSchema.Table) throws(PlanError) -> RowPass {
        var columns = table.columns.filter { !$0.isGenerated }.map(\.name)
        var shape = RowShape(table: try identifier(table.name))
        var key: Int?
        if let rowID = table.rowIDName {
            // Other tables may refer to a row by its rowid, even if no column holds it.
            if !columns.contains(rowID) { columns.insert(rowID, at: 0) }
            let name: SQLIdentifier = try identifier(rowID)
            shape.rowOrder = .rowID(name)
            key = shape.index(of: .column(name))
        } else if table.isWithoutRowID {
            shape.rowOrder = .key(
                try table.primaryKey.map { (column: StoreSchema.KeyColumn) throws(PlanError) in
                    RowShape.KeyTerm(
                        column: try identifier(column.name), collation: try identifier(column.collation),
                        isDescending: column.isDescending)
                })
        }
        let cells = try columns.map { name throws(PlanError) in
            CellRecipe.carry(shape.index(of: .column(try identifier(name))))
        }
        // All three names of the rowid are columns: only the values are left to sort by.
        if key == nil, !table.isWithoutRowID { shape.order = Array(shape.cells.indices) }
        return RowPass(
            kind: .appTable, title: table.name, shape: shape, destinationTable: table.name, destinationColumns: columns,
            key: key, discriminator: nil, projections: [0: RowProjection(entity: table.name, cells: cells)])
    }
}
