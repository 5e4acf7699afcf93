import CausewayExpressions

/// Which hashes follow a rule that InsideVersionHashes marks as unproven.
enum UnverifiedHash {
    /// Whether the entity's hash, or an ancestor's, depends on such a rule.
    static func concerns(_ entity: String, in model: ManagedObjectModel) -> Bool {
        model.lineage(of: entity).contains { ancestor in
            !ancestor.name.isASCII
                || ancestor.attributes.contains { concerns($0, level: 0) }
                || ancestor.relationships.contains { concerns($0) }
        }
    }

    private static func concerns(_ relationship: Relationship) -> Bool {
        !relationship.isTransient
            && !(relationship.name + relationship.destination + (relationship.inverse ?? "")).isASCII
    }

    private static func concerns(_ attribute: Attribute, level: Int) -> Bool {
        if let derivation = attribute.derivation {
            // The hash is of the texts; their form is verified for these three, and no filter was ever seen.
            return derivation.filter != nil || !isVerified(derivation.expression) || !attribute.name.isASCII
        }
        if attribute.isTransient { return false }
        if attribute.type == .composite {
            return level > 0 || attribute.elements.contains { concerns($0, level: level + 1) }
        }
        return attribute.type == .objectID || !attribute.name.isASCII
    }

    private static func isVerified(_ expression: Expression) -> Bool {
        switch expression {
        case .function(nil, "now", let arguments): arguments.isEmpty
        case .function(nil, "count:", let arguments): arguments.count == 1 && arguments.allSatisfy(isPlainKeyPath)
        default: isPlainKeyPath(expression)
        }
    }

    private static func isPlainKeyPath(_ expression: Expression) -> Bool {
        guard case .keyPath(.evaluatedObject, let path) = expression else { return false }
        return path.isASCII && !path.contains("@")
    }
}

extension String {
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
