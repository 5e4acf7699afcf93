import CausewayModel
import CausewayPlanning

/// One entity as its rows are exported: which cells of its table become which fields.
struct EntityShape {
    /// One value of a row.
    struct Leaf {
        enum Kind {
            case attribute(CellMeaning)
            /// The key of a to-one's target; `entityCell` has its Z_ENT where the destination has subentities.
            case link(entityCell: Int?, destination: Int32)
            /// The row's place in an ordered to-many.
            case place
        }

        /// The property; a composite's leaf is `composite.leaf`.
        let path: String
        /// Place in `columns`.
        let cell: Int
        let kind: Kind
    }

    /// The values as a reader finds them; composites hold others.
    indirect enum Field {
        case value(name: String, leaf: Int)
        case composite(name: String, [Field])
    }

    /// A to-many relationship.
    struct List {
        enum Storage {
            case toMany(ToManyStorage)
            case join(JoinStorage)
        }

        let name: String
        let isOrdered: Bool
        let storage: Storage
        /// Z_ENT of the declared destination.
        let destination: Int32
        /// Whether a column of another entity, or the list at the other end, says the same.
        let isToldElsewhere: Bool
    }

    let name: String
    let number: Int32
    /// Place in the map's tables.
    let table: Int
    /// The field with the object's URI: no property has this name.
    let idName: String
    /// Places in the table's columns; a row has a cell for each.
    let columns: [Int]
    let leaves: [Leaf]
    let fields: [Field]
    let lists: [List]
}
