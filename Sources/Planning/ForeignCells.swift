import CausewayExpressions
import CausewayMapping
import CausewayModel

/// What stands in the cell of an attribute that the row's entity doesn't have, in the table that it shares with the
/// attribute's owner.
///
/// Core Data never reads it. Where it holds something, that stays; and where Core Data would add the column with ALTER
/// TABLE, it fills every row (core-data-migration.md §7.5). A fused run goes back through its steps one by one, so that
/// it leaves what they would leave one after the other.
struct ForeignCells {
    enum Origin: Hashable {
        case nothing
        /// The default of a step that adds the column, in the form of that step's attribute; later steps convert it.
        case constant(Constant?, Attribute?, NumericConversion?)
        /// The source's column of an attribute, by the entity that declares it, and what the steps make of its numbers.
        case column(path: String, declaredBy: String, NumericConversion?)
    }

    /// A step with its mappings by the entity at either end.
    private struct Step {
        var models: (source: ManagedObjectModel, destination: ManagedObjectModel)
        var mappings: [String: EntityMapping] = [:]
        var destinations: [String: String] = [:]

        init(_ step: InferredStep) {
            models = (step.source, step.destination)
            for mapping in step.mapping.entityMappings {
                // Of several, the first counts: an absorbed subentity comes after the entity that takes it in.
                if let destination = mapping.destination, mappings[destination] == nil {
                    mappings[destination] = mapping
                }
                if let source = mapping.source { destinations[source] = mapping.destination }
            }
        }
    }

    private let steps: [Step]
    private let fillsTables: Bool

    /// `fillsTables`: whether Core Data would add columns in place.
    init(_ steps: [InferredStep], fillsTables: Bool) {
        self.steps = steps.map(Step.init)
        self.fillsTables = fillsTables
    }

    /// Where a cell comes from.
    ///
    /// - Parameters:
    ///   - path: the attribute in the last version; `composite.leaf` for a composite's leaf.
    ///   - owner: the entity that declares it, which the row's entity isn't a kind of.
    ///   - entity: the row's entity in the first version.
    /// - Returns: what the first version's row, or a step on the way, puts there.
    func origin(of path: String, declaredBy owner: String, inRowsOf entity: String) -> Origin {
        var (path, owner) = (path, owner)
        var later: NumericConversion?
        for (step, entity) in zip(steps, line(from: entity)).reversed() {
            guard let mapping = step.mappings[owner], let from = mapping.source, let mapped = mapping.attribute(path)
            else { return .nothing }
            switch mapped.value {
            case .carried(let origin, _, let conversion):
                let model = step.models.source
                let name = String(origin.prefix { $0 != "." })
                // A cell that the row's own entity could see holds a value of its own, which goes where its own mapping
                // says.
                guard let declaring = model.attribute(name, of: from)?.owner,
                    model.root(of: declaring) == model.root(of: entity),
                    model.attribute(name, of: entity)?.owner != declaring
                else { return .nothing }
                (path, owner) = (origin, declaring)
                later = conversion.followed(by: later)
            case .constant(let constant) where mapped.fillsTable && fillsTables:
                return .constant(constant, step.models.destination.storedAttribute(path, of: owner), later)
            case .constant, .derived:
                return .nothing
            }
        }
        return .column(path: path, declaredBy: owner, later)
    }

    /// The row's entity in each version but the last.
    private func line(from entity: String) -> [String] {
        var line = [entity]
        for step in steps.dropLast() {
            guard let last = line.last, let next = step.destinations[last] else { break }
            line.append(next)
        }
        return line
    }
}
