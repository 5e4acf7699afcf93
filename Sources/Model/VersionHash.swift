import CausewayDigests
import CausewayExpressions

/// Hashes of entities and properties as Core Data computes them (InsideVersionHashes §1, hash style 0).
///
/// The computation depends on the model's meaning only, so models from XML, archives and caches share it.
package struct VersionHash {
    private let model: ManagedObjectModel
    /// Entity hashes already computed: a subentity's hash contains its parent's.
    private var known: [String: [UInt8]] = [:]

    package init(_ model: ManagedObjectModel) {
        self.model = model
    }

    // MARK: - Entities

    /// The 32 bytes of an entity's hash; an entity that isn't in the model has the hash of an empty one.
    package mutating func entity(_ name: String) -> [UInt8] {
        if let hash = known[name] { return hash }
        // From the root down, so that no depth of inheritance becomes recursion.
        var inherited: [UInt8]?
        for entity in model.lineage(of: name).reversed() {
            let hash = known[entity.name] ?? compute(entity, parent: inherited)
            known[entity.name] = hash
            inherited = hash
        }
        return inherited ?? Self.digest { $0.update(name) }
    }

    private func compute(_ entity: Entity, parent: [UInt8]?) -> [UInt8] {
        Self.digest { hash in
            hash.update(entity.name)
            hash.update([entity.isAbstract ? 1 : 0])
            if let parent { hash.update(parent) }
            for property in hashedProperties(of: entity.name) { hash.update(property.hash) }
            hash.update(entity.versionHashModifier ?? "")
            let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
            for constraint in constraints.sorted(by: ManagedObjectModel.compareOrder) { hash.update(constraint) }
        }
    }

    /// The properties that take part in an entity's hash with their hashes, inherited ones included, in hash order.
    package func hashedProperties(of entity: String) -> [(name: String, hash: [UInt8])] {
        var found: [String: [UInt8]?] = [:]
        for ancestor in model.lineage(of: entity) {
            // The nearest declaration counts.
            for attribute in ancestor.attributes where found[attribute.name] == nil {
                let isLeftOut = attribute.isTransient && attribute.derivation == nil
                found.updateValue(isLeftOut ? nil : Self.attribute(attribute), forKey: attribute.name)
            }
            for relationship in ancestor.relationships where found[relationship.name] == nil {
                let hash = relationship.isTransient ? nil : self.relationship(relationship, declaredBy: ancestor.name)
                found.updateValue(hash, forKey: relationship.name)
            }
        }
        return found.compactMap { name, hash in hash.map { (name, $0) } }
            .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
    }

    // MARK: - Properties

    /// What all properties begin with: name, flags (1 optional, 2 transient), modifier.
    package static func base(
        name: String, isOptional: Bool, isTransient: Bool, versionHashModifier: String?
    ) -> [UInt8] {
        digest { hash in
            hash.update(name)
            hash.update([(isOptional ? 1 : 0) | (isTransient ? 2 : 0), 0])
            hash.update(versionHashModifier ?? "")
        }
    }

    /// An attribute's hash. A derived attribute's name, type and flags take no part, nor do a composite's own.
    package static func attribute(_ attribute: Attribute) -> [UInt8] {
        if let derivation = attribute.derivation {
            return digest { hash in
                hash.update(derivation.expression.predicateFormat)
                if let filter = derivation.filter { hash.update(filter.predicateFormat) }
            }
        }
        if attribute.type == .composite {
            let leaves = leaves(of: attribute).filter { !$0.isTransient }
                .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
            return digest { hash in
                for leaf in leaves { hash.update(self.attribute(leaf)) }
            }
        }
        return digest { hash in
            hash.update(
                base(
                    name: attribute.name, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
                    versionHashModifier: attribute.versionHashModifier))
            hash.update(littleEndian: Int32(truncatingIfNeeded: attribute.type.rawValue))
            if attribute.allowsExternalBinaryDataStorage { hash.update([1]) }
            if attribute.preservesValueInHistoryOnDeletion { hash.update([1]) }
        }
    }

    /// A relationship's hash, which depends on the entity that declares it only through its inverse.
    package func relationship(_ relationship: Relationship, declaredBy owner: String) -> [UInt8] {
        Self.digest { hash in
            hash.update(
                Self.base(
                    name: relationship.name, isOptional: relationship.isOptional,
                    isTransient: relationship.isTransient, versionHashModifier: relationship.versionHashModifier))
            hash.update(relationship.destination)
            if let inverse = model.inverse(of: relationship),
                !(inverse.owner == owner && inverse.relationship.name == relationship.name),
                !redefinesSelfInverse(relationship.name, of: owner)
            {
                hash.update(inverse.relationship.name)
            }
            hash.update(littleEndian: Int32(truncatingIfNeeded: relationship.maxCount))
            hash.update(littleEndian: Int32(truncatingIfNeeded: relationship.minCount))
            if relationship.isOrdered { hash.update([1, 0]) }
        }
    }

    /// Whether the topmost ancestor that declares a relationship of this name has it as its own inverse
    /// (InsideVersionHashes §2, "Redefined inverse"; never met in data).
    private func redefinesSelfInverse(_ name: String, of owner: String) -> Bool {
        for ancestor in model.lineage(of: owner).dropFirst().reversed() {
            guard let declared = ancestor.relationships.first(where: { $0.name == name }) else { continue }
            guard let inverse = model.inverse(of: declared) else { return false }
            return inverse.owner == ancestor.name && inverse.relationship.name == name
        }
        return false
    }

    /// A composite's leaf elements, nested ones flattened; the attribute itself when it's no composite.
    private static func leaves(of attribute: Attribute) -> [Attribute] {
        attribute.type == .composite ? attribute.elements.flatMap { leaves(of: $0) } : [attribute]
    }

    private static func digest(_ body: (inout MessageDigest) -> Void) -> [UInt8] {
        var hash = MessageDigest(.sha256)
        body(&hash)
        return hash.finish()
    }
}

extension MessageDigest {
    mutating func update(_ text: String) {
        update(text.utf8)
    }

    fileprivate mutating func update(littleEndian value: Int32) {
        let bits = UInt32(bitPattern: value)
        update((0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) })
    }
}
