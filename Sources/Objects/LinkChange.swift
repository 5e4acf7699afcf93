import CausewayPlanning
import CausewaySQLite

/// A change in a join table that isn't written yet.
enum LinkChange {
    case insert(JoinStorage, mine: RowReference, theirs: RowReference, placeOfTheirs: Int64?)
    case remove(JoinStorage, mine: RowReference, theirs: RowReference)
    case removeAll(JoinStorage, mine: RowReference)
}

/// Places in ordered relationships (InsideStoreFormat §5.4).
enum OrderPlace {
    static let first: Int64 = 2_048
    static let step: Int64 = 1_024

    /// The place of the n-th member of a fresh list, counted from 0.
    static func at(_ index: Int) -> Int64 { first + Int64(index) * step }
}
