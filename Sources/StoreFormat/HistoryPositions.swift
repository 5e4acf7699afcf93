import CausewayModel

/// The meaning of a bit of ACHANGE.ZCOLUMNS, by the entity's name for it.
package enum HistoryPosition: Hashable, Sendable {
    case toOne(String)
    case toOneEntity(String)
    case orderKey(String)
    /// A composite's leaf is `composite.leaf`.
    case attribute(String)
    case toMany(String)
    case virtualToOne(owner: String, relationship: String)
}

/// The bits of an entity's ZCOLUMNS, the most significant of the first byte being position 0
/// (InsideStoreFormat §11): to-ones, their entity numbers, their order keys, attributes with the superclass's first,
/// to-manys.
package struct HistoryPositions: Hashable, Sendable {
    package let positions: [HistoryPosition]
    /// False for entities with virtual to-ones or composites: no store shows the position of their bits, so a bitmap
    /// can be kept but not rearranged.
    package let isKnown: Bool

    package init(positions: [HistoryPosition], isKnown: Bool) {
        self.positions = positions
        self.isKnown = isKnown
    }

    package init(of entity: String, in layout: StoreLayout) {
        let lineage = Array(layout.model.lineage(of: entity).reversed())
        var toOnes: [(owner: String, name: String)] = []
        var toManys: [String] = []
        var attributes: [String] = []
        var isKnown = true
        for ancestor in lineage {
            let relationships = ancestor.relationships.filter { !$0.isTransient }
                .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
            toOnes += relationships.filter { !$0.isToMany }.map { (ancestor.name, $0.name) }
            toManys += relationships.filter(\.isToMany).map(\.name)
            for attribute in ancestor.attributes.sorted(by: { ManagedObjectModel.compareOrder($0.name, $1.name) }) {
                if attribute.type == .composite { isKnown = false }
                attributes += LayoutModel.storedLeaves(of: attribute).map(\.path)
            }
        }
        let entities = Set(lineage.map(\.name))
        let virtual = layout.model.entities.values.flatMap { owner in
            owner.relationships
                .filter { relationship in
                    !relationship.isTransient && relationship.isToMany && entities.contains(relationship.destination)
                        && layout.model.inverse(of: relationship) == nil
                }
                .map { HistoryPosition.virtualToOne(owner: owner.name, relationship: $0.name) }
        }
        .sorted { "\($0)" < "\($1)" }
        positions =
            toOnes.map { .toOne($0.name) }
            + toOnes.filter { layout.column(.toOneEntity(entity: $0.owner, relationship: $0.name)) != nil }
            .map { .toOneEntity($0.name) }
            + toOnes.filter { layout.column(.orderKey(entity: $0.owner, relationship: $0.name)) != nil }
            .map { .orderKey($0.name) }
            + virtual + attributes.map { .attribute($0) } + toManys.map { .toMany($0) }
        self.isKnown = isKnown && virtual.isEmpty
    }

    /// Bytes of a bitmap.
    package var byteCount: Int { (positions.count + 7) / 8 }
}

/// Rearranges ZCOLUMNS bitmaps of one entity for another model.
package struct HistoryColumnsMap: Sendable {
    private enum Method: Sendable {
        /// The positions are the same ones.
        case keep
        /// Destination bit of each source bit; nil clears it.
        case move([Int?])
        /// It involves an unknown position.
        case forget
    }

    private let method: Method
    private let sourceCount: Int
    private let destinationBytes: Int

    /// Bytes of the longest bitmap that it makes.
    package var longestBitmap: Int { max(destinationBytes, (sourceCount + 7) / 8) }

    /// `identity` gives the destination's position for one of the source; nil for a dropped one.
    package init(
        from source: HistoryPositions, to destination: HistoryPositions,
        identity: (HistoryPosition) -> HistoryPosition?
    ) {
        sourceCount = source.positions.count
        destinationBytes = destination.byteCount
        let images = source.positions.map(identity)
        if images.count == destination.positions.count, zip(images, destination.positions).allSatisfy({ $0 == $1 }) {
            method = .keep
        } else if source.isKnown, destination.isKnown {
            let places = Dictionary(zip(destination.positions, 0...), uniquingKeysWith: { first, _ in first })
            method = .move(images.map { $0.flatMap { places[$0] } })
        } else {
            method = .forget
        }
    }

    /// - Returns: nil where NULL must be written: the bitmap isn't one of the source's entity, or its bits aren't
    ///   known.
    package func callAsFunction(_ bitmap: [UInt8]) -> [UInt8]? {
        guard bitmap.count == (sourceCount + 7) / 8 else { return nil }
        switch method {
        case .keep: return bitmap
        case .forget: return nil
        case .move(let places):
            var result = [UInt8](repeating: 0, count: destinationBytes)
            for (bit, place) in places.enumerated() where bitmap[bit / 8] & (0x80 >> UInt8(bit % 8)) != 0 {
                if let place { result[place / 8] |= 0x80 >> UInt8(place % 8) }
            }
            return result
        }
    }
}
