/// The part of a step that can't be inferred: entity mappings whose rows are made and linked as objects.
package struct ObjectStep: Sendable {
    /// Names of the mapping models, in the order in which they run.
    package var models: [String]
    /// In processing order, over all models.
    package var mappings: [EntityMappingPlan]
    package var source: StorageMap
    package var destination: StorageMap
    /// For each destination table, the source table whose keys its rows keep; nil if there is none.
    package var homes: [String?]
    /// Join tables that are copied whole after stage 1.
    package var joins: [JoinCopy]
    /// Statements that end links to rows that weren't made, after stage 1 and the joins.
    package var cleanups: [String]
    /// Functions of each policy by its name, as far as expressions may call them.
    package var policies: [String]
    package var warnings: [String]

    /// A join table whose links can be copied if the rows at both ends have their source rows' keys.
    package struct JoinCopy: Sendable {
        package var work: TableWork
        /// The mappings that make the rows at either end.
        package var ends: [Int]
        /// The same links as expressions for stage 2, by mapping, in case a policy gave rows other keys.
        package var relationships: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)]
    }
}

/// What the planner must know about the Swift code.
package struct CodeCatalog {
    /// The selectors of a policy, by the name that a mapping model gives it; nil where it isn't registered.
    package var policySelectors: (String) -> Set<String>?
    package var managerSelectors: Set<String>
    package var policyNames: [String]
    package var hasOwnManager: Bool

    package init(
        managerSelectors: Set<String>, policyNames: [String], hasOwnManager: Bool,
        policySelectors: @escaping (String) -> Set<String>?
    ) {
        self.managerSelectors = managerSelectors
        self.policyNames = policyNames
        self.hasOwnManager = hasOwnManager
        self.policySelectors = policySelectors
    }
}
