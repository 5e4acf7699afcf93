package import CausewayModel

/// One inferred step with its two models: a part of a fused run.
package struct InferredStep: Sendable {
    package var mapping: MappingModel
    package var source: ManagedObjectModel
    package var destination: ManagedObjectModel

    package init(mapping: MappingModel, source: ManagedObjectModel, destination: ManagedObjectModel) {
        self.mapping = mapping
        self.source = source
        self.destination = destination
    }
}

extension [InferredStep] {
    /// The entities of the first version whose keys each table of the last one continues, by the table's root: every
    /// entity whose rows may be in it, with their ancestors, through every step.
    package var keyOrigins: [String: Set<String>] {
        var origins: [String: Set<String>] = [:]
        for (index, step) in enumerated() {
            var next: [String: Set<String>] = [:]
            for mapping in step.mapping.entityMappings {
                guard let from = mapping.source, let to = mapping.destination else { continue }
                let before =
                    index == 0
                    ? Set(step.source.lineage(of: from).map(\.name)) : origins[step.source.root(of: from)] ?? []
                next[step.destination.root(of: to), default: []].formUnion(before)
            }
            origins = next
        }
        return origins
    }
}
