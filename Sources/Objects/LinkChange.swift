package import CausewayPlanning

/// A requested change of a join table: its rows may have no keys yet.
enum LinkChange {
    case insert(JoinStorage, mine: RowReference, theirs: RowReference, placeOfTheirs: Int64?)
    case remove(JoinStorage, mine: RowReference, theirs: RowReference)
    case removeAll(JoinStorage, mine: RowReference)
}

/// A change of a join table, ready to be written.
package enum LinkWrite {
    /// A new link, with its places if its ends are ordered.
    case insert(JoinStorage, mine: Int64, theirs: Int64, placeOfTheirs: Int64?, placeOfMine: Int64?)
    /// The other end's new place in my ordered relationship.
    case move(JoinStorage, mine: Int64, theirs: Int64, placeOfTheirs: Int64)
    case remove(JoinStorage, mine: Int64, theirs: Int64)
    case removeAll(JoinStorage, mine: Int64)
}
