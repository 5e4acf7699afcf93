import CausewayModel

/// The statements of a fresh store in Core Data's text, in the order in which it issues them (InsideStoreFormat §1).
///
/// A migration creates tables first, loads rows, then makes indexes, R-trees and triggers: the triggers call functions
/// that exist only inside Core Data, so no statement may fire them.
package struct SchemaStatements: Sendable {
    /// The model's tables, indexes, R-trees and triggers.
    package let modelStatements: [SchemaStatement]
    /// Z_PRIMARYKEY, Z_METADATA, Z_MODELCACHE.
    package let houseStatements: [SchemaStatement]
    /// The statements of persistent history; not part of `inOrder`.
    package let historyStatements: [SchemaStatement]
    /// Statement that fills an R-tree from its table, by the R-tree's name.
    package let rTreeFills: [String: String]
    /// Objects that Core Data would create and this layer can't: one sentence each, for the plan's warnings.
    package let unsupported: [String]

    /// A fresh store without history.
    package var inOrder: [SchemaStatement] { modelStatements + houseStatements }
    /// Entity tables and join tables.
    package var tableStatements: [SchemaStatement] {
        modelStatements.filter { $0.kind == .entityTable || $0.kind == .joinTable }
    }
    /// The model's indexes.
    package var indexStatements: [SchemaStatement] { modelStatements.filter { $0.index != nil } }
    package var rTreeStatements: [SchemaStatement] { modelStatements.filter { $0.kind == .rTree } }
    /// Triggers of derived attributes and R-trees.
    package var triggerStatements: [SchemaStatement] { modelStatements.filter { $0.kind == .trigger } }
}

extension StoreLayout {
    /// - Throws: `unusableModel`, if a name of the layout is unsafe.
    package func statements() throws(StoreFormatError) -> SchemaStatements {
        var writer = try SchemaWriter(self)
        writer.write()
        return SchemaStatements(
            modelStatements: writer.statements, houseStatements: houseStatements,
            historyStatements: historyStatements, rTreeFills: writer.rTreeFills, unsupported: writer.unsupported)
    }
}

/// Writes the model's statements in Core Data's order.
struct SchemaWriter {
    let layout: StoreLayout
    let outline: LayoutModel
    private(set) var statements: [SchemaStatement] = []
    var rTreeFills: [String: String] = [:]
    var unsupported: [String] = []
    /// Lower-cased: SQLite compares names without regard to case.
    private var names: Set<String> = []

    init(_ layout: StoreLayout) throws(StoreFormatError) {
        self.layout = layout
        outline = try LayoutModel(layout.model)
    }

    /// Adds each name once.
    mutating func add(_ kind: SchemaStatement.Kind, _ name: String, on table: String, _ sql: String) {
        guard names.insert(name.lowercased()).inserted else { return }
        statements.append(SchemaStatement(kind: kind, name: name, table: table, sql: sql))
    }

    mutating func add(_ index: TableIndex) {
        guard names.insert(index.name.lowercased()).inserted else { return }
        let isEarly = layout.frameworkVersion < FrameworkEra.singleBlankBeforePredicate
        statements.append(SchemaStatement(index, blank: isEarly ? "  " : " "))
    }

    mutating func write() {
        let isAncient = layout.frameworkVersion < FrameworkEra.modelCache
        if !isAncient {
            for entity in outline.entities {
                addTable(of: entity)
                addJoinTables(of: entity)
            }
        }
        for index in outline.entities.indices {
            if isAncient { addTable(of: outline.entities[index]) }
            addIndexes(of: index)
        }
        addTriggersAndRTrees()
    }

    private mutating func addTable(of entity: Entity) {
        guard entity.parent == nil, let table = layout.table(of: entity.name) else { return }
        add(.entityTable, table.name, on: table.name, table.createStatement)
    }

    mutating func addJoinTables(of entity: Entity) {
        for join in layout.joinTables where join.owner == entity.name {
            add(.joinTable, join.name, on: join.name, join.createStatement)
        }
    }
}

extension EntityTable {
    /// `CREATE TABLE …` in Core Data's text; a table that ends with a constraint has no space before the bracket.
    package var createStatement: String {
        let parts =
            columns.map { "\($0.name) \($0.declaredType)\($0.isUnique ? " UNIQUE" : "")" } + constraints
        return "CREATE TABLE \(name) ( \(parts.joined(separator: ", "))\(constraints.isEmpty ? " " : ""))"
    }
}

extension JoinTable {
    /// Every column in declared order.
    package var columns: [String] {
        [ownerColumn, destinationColumn] + [ownerOrderColumn, destinationOrderColumn].compactMap(\.self)
    }

    /// `CREATE TABLE …` in Core Data's text.
    package var createStatement: String {
        let declared = columns.map { $0 + " INTEGER" }.joined(separator: ", ")
        return "CREATE TABLE \(name) ( \(declared), PRIMARY KEY (\(ownerColumn), \(destinationColumn)) )"
    }
}
