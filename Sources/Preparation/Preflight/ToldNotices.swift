import CausewayPlanning

/// Notices of the check before the run about rows that a later step reads: that step's own check gives the rest. One
/// notice per row and reason, whether the steps run as one or one by one.
package struct ToldNotices {
    /// `V3: Note.title is mandatory now`: demands that were checked on the store's rows with certainty.
    private let demands: Set<String>
    /// Conversions whose numbers all come from the store.
    private let conversions: Set<String>
    /// All steps up to this one are inferred: ending links, misfit numbers and defaults were followed.
    let followsRows: Bool
    /// Dangling links were counted, and there are no new ones since.
    let danglingLinks: Bool

    /// - Parameters:
    ///   - index: of a step after the first.
    ///   - prepared: with all steps.
    ///   - violations: what happens to rows that break the model's rules in steps with mapping models.
    ///   - linksEnded: rows of earlier steps were quarantined, and links to them ended: there may be more rows without
    ///     a link now than the store has.
    package init(ofStep index: Int, in prepared: PreparedMigration, violations: OnViolation, linksEnded: Bool) {
        let all = RowDemand.all(
            prepared.steps, deciders: prepared.deciders(violations), stopsAtViolations: violations == .stop
        ).filter { $0.step == index }
        let untold = all.filter { !$0.isCertain || (linksEnded && $0.asksForLink) }
        // A policy may make rows of any entity, about which no notice was given.
        let makesRows = prepared.steps[..<index].contains { $0.objects?.policies.isEmpty == false }
        demands = makesRows ? [] : Set(all.map(\.subject)).subtracting(untold.map(\.subject))
        followsRows =
            prepared.steps[...index].allSatisfy { $0.objects == nil } && prepared.handlers.allSatisfy(\.isEmpty)
        conversions = followsRows ? NumberDemand.followed(prepared.steps, at: index) : []
        danglingLinks = prepared.steps[index - 1].objects == nil && prepared.handlers[index - 1].isEmpty
    }

    func covers(_ demand: RowDemand) -> Bool { demands.contains(demand.subject) }

    /// `conversion`: `V2: Thing.count: Integer 64 → Integer 16`.
    func covers(conversion: String) -> Bool { conversions.contains(conversion) }
}

extension PreparedMigration {
    /// For each step, what may change its finished rows before the next step reads them.
    package func deciders(_ violations: OnViolation) -> [[String]] {
        steps.indices.map { index in
            let validates = steps[index].objects != nil && violations != .stop
            return handlers[index].map(\.title) + (validates ? ["--on-violation \(violations.rawValue)"] : [])
        }
    }
}
