package import CausewayEvaluation

/// Which selectors a step's manager and one policy have.
package struct SelectorCatalog: FunctionCatalog, Sendable {
    package static let byMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let byRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    package static let sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"

    /// `$entityMapping.userInfo.key`; the compiler lets no other path through.
    package static let keyPath = "valueForKeyPath:"

    /// nil for an unknown policy, which is reported elsewhere: then any selector is accepted.
    private let policy: Set<String>?
    private let manager: Set<String>

    package init(policy: Set<String>?, manager: Set<String>) {
        self.policy = policy
        self.manager = manager
    }

    package func hasFunction(_ selector: String, on receiver: FunctionReceiver, argumentCount: Int) -> Bool {
        guard argumentCount == selector.count(where: { $0 == ":" }) else { return false }
        switch receiver {
        case .manager:
            return [Self.byMapping, Self.byRelationship, Self.sources].contains(selector) || manager.contains(selector)
        case .entityPolicy: return policy?.contains(selector) ?? true
        case .entityMapping:
            return ["name", "sourceEntityName", "destinationEntityName", Self.keyPath].contains(selector)
        case .propertyMapping: return ["name", Self.keyPath].contains(selector)
        case .object: return false
        }
    }
}
