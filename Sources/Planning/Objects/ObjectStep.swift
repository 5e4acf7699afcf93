import CausewayMapping
package import CausewayObjects
import CausewaySQLite
import CausewayStoreFormat

/// The part of a step that inference can't describe: entity mappings whose rows are made and linked as objects.
package struct ObjectStep: Sendable {
    /// Names of the mapping models, in the order in which they run.
    package var models: [String]
    /// In processing order, over all models.
    package var mappings: [EntityMappingPlan]
    package var source: StorageMap
    package var destination: StorageMap
    /// For each destination table, the source table whose keys its rows keep; nil where none does.
    package var homes: [String?]
    /// Passes that copy whole join tables, after stage 1 of the mapping model that `lastModel(making:)` names.
    package var joins: [RowPass]
    /// Statements that end links to rows that were not made, after stage 1 and the joins.
    package var cleanups: [LinkCleanup]
    /// Functions of each policy by its name, as far as expressions may call them.
    package var policies: [String]

    /// Ends links to rows that were not made.
    package struct LinkCleanup: Sendable {
        package var sql: String
        /// The tables that the links lead to.
        package var targets: [String]
    }

    /// Mappings of one model.
    package func mappings(ofModel index: Int) -> [EntityMappingPlan] {
        mappings.filter { $0.modelIndex == index }
    }

    /// The mapping model after whose stage 1 all rows of some tables are made. Until then a key that leads to no row may
    /// be one whose row comes with a later mapping model.
    package func lastModel(making tables: [String]) -> Int {
        let makers = mappings.filter { plan in
            guard plan.sourceEntity != nil || plan.description.policyClassName != nil,
                let table = plan.destinationEntity.flatMap({ destination.table(of: $0) })
            else { return false }
            return tables.contains(destination.tables[table].name.name)
        }
        return makers.map(\.modelIndex).max() ?? 0
    }

    /// The same for both ends of a join table.
    package func lastModel(linkedBy joinTable: String) -> Int {
        let ends = destination.layout.joinTables.filter { $0.name == joinTable }
            .flatMap { [$0.owner, $0.inverseOwner] }
        return lastModel(making: ends.compactMap { destination.layout.table(of: $0)?.name })
    }
}

/// What the planner must know of the Swift side.
package struct CodeCatalog {
    /// The selectors of a policy, by the name that a mapping model gives it; nil where nobody registered it.
    package var policySelectors: (String) -> Set<String>?
    package var managerSelectors: Set<String>
    package var policyNames: [String]
    package var hasOwnManager: Bool

    package init(_ code: MigrationCode) {
        let manager = code.managerType.init()
        managerSelectors = Set(manager.functions.keys)
        policyNames = code.policyNames
        hasOwnManager = code.hasOwnManager
        policySelectors = { name in
            code.policy(named: name).map { Set($0.init().functions.keys) }
        }
    }
}
