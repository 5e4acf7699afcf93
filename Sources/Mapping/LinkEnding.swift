/// Links that end in one step, because their relationship leads to another entity than before and the rows at their
/// other end can't be its objects. Core Data infers such a step; only the rows tell whether there are such links. If
/// the relationship is mandatory, there is an obligation instead (`Obligation.Demand.noEnding`).
package struct LinkEnding: Hashable, Sendable {
    /// The step's position on the path (0 is the first step).
    package var step: Int
    /// The relationship in the step's destination, by the entity that declares it.
    package var entity: String
    package var relationship: String
    /// The entity to which it leads in the step's destination.
    package var leadsTo: String
    /// Where the links are in the source.
    package var links: LinkSource
    /// Entities of the source at the other end to which the links end.
    package var targets: Set<String>

    package init(
        step: Int, entity: String, relationship: String, leadsTo: String, links: LinkSource, targets: Set<String>
    ) {
        self.step = step
        self.entity = entity
        self.relationship = relationship
        self.leadsTo = leadsTo
        self.links = links
        self.targets = targets
    }
}
