package import CausewayEvaluation
package import CausewayMapping
package import CausewayModel
package import CausewaySQLiteFile
package import CausewayStoreFormat

/// How the objects of one entity mapping are made and linked; computed once per plan, read by every worker.
package struct EntityMappingPlan: Sendable {
    /// Whether a destination row has its source row's key.
    package enum KeyKeeping: Hashable, Sendable {
        /// Always: the association is in the keys and is not recorded.
        case always
        /// If no row of an earlier mapping has it; the association is recorded.
        case ifFree
        /// Never: the rows come from several tables, and their keys would clash.
        case never
    }

    /// What the default policy puts into one attribute.
    package struct AttributeFill: Sendable {
        package enum Origin: Sendable {
            /// The source cell as it is: this cell of the mapping's shape.
            case carry(Int)
            case compute(CompiledExpression)
        }
        package var name: String
        package var column: Int
        package var attribute: Attribute
        package var origin: Origin
    }

    /// What a column of a new row gets where that follows from its source row alone.
    package enum ColumnFill: Sendable {
        case constant(CellValue)
        /// This cell of the mapping's shape, as it is.
        case carry(Int)
        /// The value of this of the mapping's attributes.
        case compute(Int)
        /// The parts of this of the mapping's keys.
        case key(Int)
        case keyEntity(Int)
        case keyPlace(Int)
        /// The parts of this of the mapping's choices.
        case choice(Int)
        case choiceEntity(Int)
    }

    /// A to-one whose expression chooses between links of the source row, whose targets were made before: their keys
    /// are known when the row is made.
    package struct LinkChoice: Sendable {
        /// What a condition on the source row leads to.
        package struct Option: Sendable {
            package struct Condition: Sendable {
                package var cell: Int
                package var isNull: Bool
            }

            /// On the cell of a link; without one the option is always taken.
            package var condition: Condition?
            /// The cells of the chosen link: its key, and the target's Z_ENT; without a key the new link is NULL.
            package var key: Int?
            package var entity: Int?
            /// Z_ENT of the link's declared destination.
            package var declared: Int32
            /// The mapping that makes the target, by its Z_ENT in the source.
            package var targets: [Int32: Int]
        }

        /// The first whose condition holds is taken; without one the link is NULL.
        package var options: [Option]
        package var column: Int
        package var entityColumn: Int?
        /// The same for stage 2, where keys of the targets can't be held.
        package var relationship: RelationshipFill
    }

    /// A to-one whose targets keep their keys: the key is copied with the row.
    package struct KeyFill: Sendable {
        /// Result columns of the mapping's statement: the key, the target's Z_ENT, the place in the inverse.
        package var key: Int
        package var entity: Int?
        package var place: Int?
        /// Destination Z_ENT by source Z_ENT of the target; if the source has no column for it, there is one entry.
        package var numbers: [Int32: Int32]
        /// Z_ENT of the source's declared destination.
        package var declared: Int32
        package var column: Int
        package var entityColumn: Int?
        package var placeColumn: Int?
        /// The same link as an expression for stage 2, in case stage 1 gives rows of `targets` other keys.
        package var relationship: RelationshipFill
        /// The mappings that make the targets, by place in the step.
        package var targets: [Int]
    }

    /// A relationship whose expression is evaluated for every row in stage 2.
    package struct RelationshipFill: Sendable {
        package var name: String
        package var expression: CompiledExpression
        /// The entity that the destination relationship leads to.
        package var destination: String
    }

    package var description: EntityMappingDescription
    /// Place in the step's mappings.
    package var index: Int
    /// Which of the step's mapping models it belongs to: they run one after another.
    package var modelIndex: Int
    /// nil if no rows are read: the entity is added, or its mapping removes it.
    package var sourceEntity: Int32?
    package var destinationEntity: Int32?
    package var keeping: KeyKeeping
    /// Whether its rows are made independently of each other, by workers that have no store.
    package var isIndependent: Bool
    /// Whether stage 2 calls a hook of the app's for each of its rows.
    package var hasStage2Hook: Bool
    /// Whether stage 2 reads its rows again, as far as that is known before stage 1.
    package var isReadAgain: Bool { sourceEntity != nil && (hasStage2Hook || !relationships.isEmpty) }
    /// What is read of the source rows, and the cell of each column of the source's table (−1: not read).
    package var shape: RowShape
    package var cells: [Int]
    /// The same for stage 2: keys and links only; other values that a hook reads are looked up.
    package var linkShape: RowShape
    package var linkCells: [Int]
    package var filter: CompiledPredicate?
    package var attributes: [AttributeFill]
    package var keys: [KeyFill]
    package var relationships: [RelationshipFill]
    /// To-manys that needn't be set, as the rows at their other ends say the same.
    package var unneeded: [RelationshipFill] = []
    /// By column of the new table, where rows follow from their source rows alone, but perhaps for their keys; else
    /// nil.
    package var columns: [ColumnFill]?
    /// Links that are chosen when the row is made.
    package var choices: [LinkChoice] = []
    /// Z_ENT of the entities whose rows it reads.
    package var sourceEntities: Set<Int32> = []
    /// Whether its filter and attributes read stored attributes of the source row alone.
    package var readsOwnCells = false
    /// Names of the relationships of stage 2 that need more than a to-one of the source row.
    package var distantLinks: [String] = []
    /// Names of the source row's properties that its filter reads.
    package var filterKeys: Set<String> = []
}
