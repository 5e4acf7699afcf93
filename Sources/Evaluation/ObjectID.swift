/// One row of a store: what `NSManagedObjectID` is.
public struct ObjectID: Hashable, Sendable {
    /// Which of a migration's two stores the row is in.
    package enum Side: UInt8, Hashable, Sendable {
        case source, destination
    }

    package var side: Side
    /// Z_ENT in that store: the row's own entity, never a parent's.
    package var entity: Int32
    /// Z_PK; negative for a row of a detached context that has no key yet.
    package var key: Int64

    package init(side: Side, entity: Int32, key: Int64) {
        self.side = side
        self.entity = entity
        self.key = key
    }
}
