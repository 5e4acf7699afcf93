package import CausewayPlanning

/// A change in a join table as it was asked for: its rows may have no keys yet.
enum LinkChange {
    case insert(JoinStorage, mine: RowReference, theirs: RowReference, placeOfTheirs: Int64?)
    case remove(JoinStorage, mine: RowReference, theirs: RowReference)
    case removeAll(JoinStorage, mine: RowReference)
}

/// A change in a join table as it is written.
package enum LinkWrite {
    /// A link that doesn't stand yet; the places where its ends are ordered.
    case insert(JoinStorage, mine: Int64, theirs: Int64, placeOfTheirs: Int64?, placeOfMine: Int64?)
    /// The other end's new place in my ordered relationship.
    case move(JoinStorage, mine: Int64, theirs: Int64, placeOfTheirs: Int64)
    case remove(JoinStorage, mine: Int64, theirs: Int64)
    case removeAll(JoinStorage, mine: Int64)
}
