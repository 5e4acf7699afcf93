import CausewayMapping

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
    /// Join tables whose links are made from the source's after stage 1, with other keys.
    package var translations: [JoinTranslation] = []
    /// What ends links to rows that weren't made, after stage 1 and the joins.
    package var cleanups: [Cleanup]
    /// Functions of each policy by its name, as far as expressions may call them.
    package var policies: [String]
    /// Whether a run that ends between two rows of these mappings can be resumed.
    package var isResumable: Bool
    /// Whether the migration manager is a class of the app's own, which may associate anything.
    package var hasOwnManager = false
    package var warnings: [String]

    /// Whether every link is carried with its row, or with its join table: those that lead nowhere are ended, and
    /// counted, when all rows are made.
    package var carriesLinks: Bool {
        mappings.allSatisfy { $0.relationships.isEmpty && $0.description.policyClassName == nil }
    }

    /// Whether it is an inferred step that runs together with mapping models before it.
    package var isProjected: Bool { models.isEmpty }

    /// A statement that ends links to rows that weren't made.
    package struct Cleanup: Sendable {
        package var sql: String
        /// The column of the links, with its table's place; nil for a join table's.
        package var link: (table: Int, column: String)?
    }

    /// A join table whose links can be copied if the rows at both ends have their source rows' keys.
    package struct JoinCopy: Sendable {
        package var work: TableWork
        /// The mappings that make the rows at either end.
        package var ends: [Int]
        /// The same links as expressions for stage 2, by mapping, in case a policy gave rows other keys.
        package var relationships: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)]
    }

    /// A join table whose links follow from the source's, though rows at its ends get new keys.
    package struct JoinTranslation: Sendable {
        /// Links of the source's that become some of its own.
        package struct Part: Sendable {
            package var link: JoinStorage
            /// The mappings that make the rows at this end, and those that make the rows at the other.
            package var owners: [Int]
            package var targets: [Int]
        }

        package var link: JoinStorage
        /// In the order of the mappings.
        package var parts: [Part]
        /// The same links as expressions for stage 2, by mapping, where the new keys can't be held.
        package var relationships: [(mapping: Int, fill: EntityMappingPlan.RelationshipFill)]
    }
}

/// What the planner must know about the Swift code.
package struct CodeCatalog {
    /// What a policy says of itself.
    package struct Policy {
        /// What expressions may call on it.
        package var selectors: Set<String>
        package var isIndependent: Bool
        package var isResumable: Bool
        /// Whether stage 2 has a hook of its own.
        package var createsRelationships: Bool

        package init(
            selectors: Set<String>, isIndependent: Bool, isResumable: Bool, createsRelationships: Bool = true
        ) {
            self.selectors = selectors
            self.isIndependent = isIndependent
            self.isResumable = isResumable
            self.createsRelationships = createsRelationships
        }
    }

    /// A policy by the name that a mapping model gives it; nil where it isn't registered.
    package var policy: (String) -> Policy?
    package var policyNames: [String]
    package var managerSelectors: Set<String>
    package var hasOwnManager: Bool
    /// Whether a fresh manager can go on between two rows.
    package var isManagerResumable: Bool

    package init(
        policyNames: [String], managerSelectors: Set<String>, hasOwnManager: Bool, isManagerResumable: Bool,
        policy: @escaping (String) -> Policy?
    ) {
        self.policyNames = policyNames
        self.managerSelectors = managerSelectors
        self.hasOwnManager = hasOwnManager
        self.isManagerResumable = isManagerResumable
        self.policy = policy
    }
}
