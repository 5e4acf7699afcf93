package import CausewayModel

/// A store matched with its model: the real place of everything in the model, and the other objects.
///
/// Tables are found by the names that the model gives, columns by name in any order, join tables by their columns:
/// their names aren't always derivable (InsideStoreFormat §§5.3, 10).
package struct StoreBinding: Sendable {
    package let schema: StoreSchema
    /// The model's layout with the store's real names; an entity table's columns are in the store's order, without
    /// those that the model doesn't know. Without missing tables and columns, see `problems`.
    package let layout: StoreLayout
    /// Every reason why the tables don't fit the model; empty where they do.
    package let problems: [StoreFormatError]
    /// Columns of entity and join tables that the model doesn't know, by table.
    package let extraColumns: [String: [String]]
    /// Names in Z_PRIMARYKEY that differ from the model's, by Z_ENT: Core Data keeps the old one when only an entity's
    /// name changes.
    package let staleEntityNames: [Int: String]
    /// Every object of the store, in the schema table's order.
    package let objects: [SchemaObject]

    /// - Throws: `unusableModel` where the model has no layout. Mismatches are in `problems`.
    package init(_ schema: StoreSchema, model: ManagedObjectModel, frameworkVersion: Int) throws(StoreFormatError) {
        let expected = try StoreLayout(model: model, frameworkVersion: frameworkVersion, hints: LayoutHints(schema))
        var matcher = StoreMatcher(schema: schema, expected: expected)
        matcher.matchNumbers()
        let tables = expected.tables.compactMap { matcher.match($0) }
        let joinTables = expected.joinTables.compactMap { matcher.match($0) }
        let layout = StoreLayout(
            model: model, frameworkVersion: frameworkVersion, entities: expected.entities, tables: tables,
            joinTables: joinTables, undecidable: [])
        self.schema = schema
        self.layout = layout
        problems = matcher.problems
        extraColumns = matcher.extraColumns
        staleEntityNames = matcher.staleEntityNames
        let origins = SchemaOrigins(try layout.statements(), schema: schema)
        objects = schema.objects.map { SchemaObject(object: $0, origin: origins.origin(of: $0)) }
    }

    /// - Throws: `modelMismatch` with every problem in one message.
    package func requireComplete() throws(StoreFormatError) {
        guard let first = problems.first else { return }
        if problems.count == 1 { throw first }
        let lines = problems.prefix(50).map { "– \($0)" }.joined(separator: "\n")
        throw StoreFormatError(
            .modelMismatch, "the store's tables don't fit its model in \(problems.count) places:\n\(lines)")
    }

    /// Objects of one origin.
    package func objects(_ origin: SchemaObject.Origin) -> [StoreSchema.Object] {
        objects.filter { $0.origin == origin }.map(\.object)
    }
}
