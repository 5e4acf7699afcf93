import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Compares dangling and one-sided links of the new store with those of the source: a migration may carry existing
/// damage, which is listed, but never add any.
struct LinkComparison {
    let step: StepPlan
    let cancellation: Cancellation?

    func compare(
        source: borrowing Connection, result: borrowing Connection
    ) throws -> (findings: [String], notices: [String]) {
        var (findings, notices): ([String], [String]) = ([], [])
        var before: [LinkQuestion]?
        for question in try LinkQuestion.all(step.layout) {
            let found = try FoundRows(question.sql, in: result, cancellation)
            guard found.count > 0 else { continue }
            let origins = try before ?? LinkQuestion.all(step.source)
            before = origins
            var tolerated = 0
            for origin in origins where isOrigin(origin, of: question) {
                tolerated += try FoundRows(origin.sql, in: source, cancellation).count
            }
            let place = "\(question.entity).\(question.relationship) \(question.complaint) in \(found.described)"
            guard found.count > tolerated else {
                notices.append("\(place), as in the source")
                continue
            }
            let was = tolerated == 0 ? "" : "; \(tolerated) in the source"
            findings.append(place + was)
        }
        return (findings, notices)
    }

    /// Whether damage that `origin` finds in the source can cause what `question` finds in the new store.
    private func isOrigin(_ origin: LinkQuestion, of question: LinkQuestion) -> Bool {
        guard origin.kind.isSameDamage(as: question.kind) else { return false }
        // A mapping model's links aren't followed one by one: any damage of the source may be the cause.
        if step.objects != nil { return true }
        return step.mapping.entityMappings.contains { mapping in
            guard let to = mapping.destination, step.layout.model.isKind(to, of: question.entity),
                let links = mapping.relationship(question.relationship)?.links,
                let (owner, relationship) = step.sourceModel.relationship(links.relationship, of: links.entity)
            else { return false }
            if origin.entity == owner, origin.relationship == relationship.name { return true }
            guard let inverse = step.sourceModel.inverse(of: relationship) else { return false }
            return origin.entity == inverse.owner && origin.relationship == inverse.relationship.name
        }
    }
}
