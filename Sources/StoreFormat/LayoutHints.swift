package import CausewayModel

/// What a model leaves open about its layout, read from a real store (InsideStoreFormat §5.3).
package struct LayoutHints: Hashable, Sendable {
    /// Join tables by name: the two key columns in declared order.
    package var joinTables: [String: [String]]
    /// The `Z_FOK_…` columns of an entity table in declared order, by table name.
    package var orderColumns: [String: [String]]
    /// `JoinTable.chosenAmid` of the tables whose name comes from a store of another version, or from none; the other
    /// names were chosen for the hints' own model.
    package var chosenAmid: [String: Set<String>] = [:]
    /// Tables whose name was seen in a store of the version, regardless of `chosenAmid`; their columns weren't.
    package var seenTables: Set<String> = []
    /// Order keys that the hints' store doesn't have.
    var newOrderKeys: Set<RelationshipName> = []

    package init(joinTables: [String: [String]] = [:], orderColumns: [String: [String]] = [:]) {
        self.joinTables = joinTables
        self.orderColumns = orderColumns
    }

    /// A relationship by the entity that declares it.
    package struct RelationshipName: Hashable, Sendable {
        package let entity: String
        package let relationship: String

        package init(_ entity: String, _ relationship: String) {
            self.entity = entity
            self.relationship = relationship
        }
    }
}

extension StoreLayout {
    /// As `init(model:frameworkVersion:hints:)`, with join tables named as they were seen in a store of the model:
    /// `joinTables` are names in capitals, each one that a table of the layout may have; others are ignored. Throws as
    /// that does.
    package init(
        model: ManagedObjectModel, frameworkVersion: Int, hints: LayoutHints, joinTables: [String]
    ) throws(StoreFormatError) {
        let open = try StoreLayout(model: model, frameworkVersion: frameworkVersion, hints: hints)
        guard !joinTables.isEmpty else {
            self = open
            return
        }
        var hints = hints
        for join in open.joinTables {
            let turned = join.turned(open.entityNumbers)
            for table in join.isPairInOneEntity ? [join, turned] : [join] where joinTables.contains(table.name) {
                (hints.joinTables[join.name], hints.chosenAmid[join.name]) = (nil, nil)
                hints.joinTables[table.name] = [table.ownerColumn, table.destinationColumn]
                hints.chosenAmid[table.name] = join.chosenAmid
                hints.seenTables.insert(table.name)
            }
        }
        self = try StoreLayout(model: model, frameworkVersion: frameworkVersion, hints: hints)
    }

    /// Join tables' names by relationship; a pair inside one entity also has the name that its other side would give.
    package var possibleJoinTableNames: [(relationship: String, names: [String])] {
        joinTables.map { table in
            let names = [table.name] + (table.isPairInOneEntity ? [table.turned(entityNumbers).name] : [])
            return ("\(table.owner).\(table.relationship)", names)
        }
    }
}
