package import CausewayMapping
package import CausewayModel
package import CausewayStoreFormat

/// What one run of steps does: from one store's tables into the next's.
package struct StepPlan: Sendable {
    /// The versions that the run leads through, both ends included.
    package var versions: [String]
    /// The position of the run's first step on the path.
    package var firstStep: Int
    package var mapping: MappingModel
    /// The layout of the store to read, with the names that it has.
    package var source: StoreLayout
    /// The layout of the store to make.
    package var layout: StoreLayout
    package var statements: SchemaStatements
    /// Whether the store to make has history tables.
    package var hasHistory: Bool
    package var passes: [RowPass]
    /// Every index of the store to make.
    package var indexes: [TableIndex]
    /// Objects of the app's own that are carried, in the order of their creation.
    package var appObjects: [StoreSchema.Object]
    /// Derived attributes that are computed after the rows are in.
    package var derivedValues: [DerivedValue]
    /// Source entities whose largest keys the tables continue, by the destination's root.
    package var keyOrigins: [String: Set<String>]
    /// What the run drops of the store's content.
    package var lost: [Loss]
    /// What every step of the run changes in the model, in the order of the steps.
    package var changes: [StepChange] = []
    /// Objects of the app's own that aren't carried; their rows are counted where the store is open.
    package var lostObjects: [AppObjectCarrier.Lost]
    package var warnings: [String]
    /// What explicit mapping models do; nil for a run of inferred steps.
    package var objects: ObjectStep?
    /// The passes of an inferred step that runs together with mapping models before it; nil for all others.
    package var projected: [RowPass]?
    /// Whether Core Data appends columns to tables that it keeps (framework version 977 and newer).
    package var appendsColumns = false
    /// How tables and indexes are made.
    package var methods = StepMethods()
}

extension StepPlan {
    /// What is lost, one sentence each, beginning with the step.
    package var losses: [String] { lost.map(\.description) }

    package var sourceModel: ManagedObjectModel { source.model }

    /// Z_ENT by entity name in the store to read.
    package var sourceNumbers: [String: Int] { source.entityNumbers }

    /// The version that a step of the path makes.
    package func version(ofStep position: Int) -> String {
        let index = position - firstStep + 1
        return versions.indices.contains(index) ? versions[index] : versions.last ?? ""
    }

    /// Core Data's indexes, history's included, in the order of their creation.
    package var indexStatements: [SchemaStatement] {
        statements.indexStatements + (hasHistory ? statements.historyStatements.filter { $0.kind == .index } : [])
    }

    /// The texts of the indexes, Core Data's and the app's, by name; those of constraints have none.
    var indexTexts: [String: String] {
        let others = appObjects.filter { $0.kind == .index }.compactMap { object in
            object.sql.map { (object.name, $0) }
        }
        return Dictionary(indexStatements.map { ($0.name, $0.sql) } + others, uniquingKeysWith: { first, _ in first })
    }

    /// The schema that the next step finds, with the columns of the app's own tables and of history; nil if this step's
    /// isn't known.
    package func resultingSchema(after schema: StoreSchema?) -> StoreSchema? {
        guard let schema else { return nil }
        let own = appObjects.filter { $0.kind == .table }.compactMap { schema.table($0.name) }
        let history = hasHistory ? HistoryLayout(layout) : nil
        let tables = HistoryLayout.Entity.allCases.compactMap { entity -> StoreSchema.Table? in
            guard let columns = history?.columns(of: entity), !columns.isEmpty else { return nil }
            return StoreSchema.Table(
                name: entity.table, rootPage: 0, columns: columns.map { StoreSchema.Column($0) }, isWithoutRowID: false)
        }
        let made = (statements.inOrder + (hasHistory ? statements.historyStatements : [])).compactMap(\.object)
        return StoreSchema(
            objects: made + appObjects, tables: own + tables, primaryKeys: [], schemaVersion: schema.schemaVersion)
    }
}
