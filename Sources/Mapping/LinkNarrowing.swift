package import CausewayModel

/// An end of a relationship whose objects keep the first of their links, since the new version has no room for more.
package struct LinkNarrowing: Hashable, Sendable {
    /// The objects that the source relationship leads to, instead of those that have it.
    package var isFar: Bool
    /// The first is that of an ordered relationship; else that with the smallest key.
    package var isByPlace: Bool

    package init(isFar: Bool, isByPlace: Bool) {
        (self.isFar, self.isByPlace) = (isFar, isByPlace)
    }

    /// Seen from the other end.
    package var turned: LinkNarrowing { LinkNarrowing(isFar: !isFar, isByPlace: isByPlace) }

    /// Where `after` has less room than `before`, both seen from the same end.
    static func between(_ before: LinkRoom, _ after: LinkRoom) -> [LinkNarrowing] {
        (before.hasMany && !after.hasMany ? [LinkNarrowing(isFar: false, isByPlace: before.isOrdered)] : [])
            + (before.isOfMany && !after.isOfMany ? [LinkNarrowing(isFar: true, isByPlace: before.isOfOrdered)] : [])
    }
}

/// How many links a store has room for at either end of a relationship.
package struct LinkRoom {
    /// An object may have several.
    package let hasMany: Bool
    /// Several objects may lead to one.
    package let isOfMany: Bool
    fileprivate let isOrdered: Bool
    fileprivate let isOfOrdered: Bool

    /// One of the two is there. Of a to-many without inverse each object has one owner; a to-one without inverse has
    /// room for any number.
    package init(_ relationship: Relationship?, inverse: Relationship?) {
        hasMany = relationship?.isToMany ?? !(inverse?.isToMany ?? false)
        isOfMany = inverse?.isToMany ?? !(relationship?.isToMany ?? false)
        (isOrdered, isOfOrdered) = (relationship?.isOrdered ?? false, inverse?.isOrdered ?? false)
    }
}

extension ManagedObjectModel {
    /// The room for a relationship's links, seen from the end that has it.
    package func room(for relationship: Relationship) -> LinkRoom {
        LinkRoom(
            relationship,
            inverse: inverse(of: relationship).flatMap { $0.relationship.isTransient ? nil : $0.relationship })
    }

    /// Of a one-to-one of two relationships, whether the far end's column counts in a new version: the one in whose
    /// place the links are then; of a join table, which has its own, that of the end that comes first by name.
    func countsFarColumn(of relationship: Relationship, movingTo room: LinkRoom) -> Bool? {
        guard !relationship.isToMany, let inverse = inverse(of: relationship), !inverse.relationship.isToMany,
            !inverse.relationship.isTransient, inverse.relationship != relationship, room.hasMany || room.isOfMany
        else { return nil }
        guard room.hasMany, room.isOfMany else { return room.hasMany }
        guard let near = self.inverse(of: inverse.relationship) else { return nil }
        return (inverse.owner, inverse.relationship.name) < (near.owner, relationship.name)
    }
}
