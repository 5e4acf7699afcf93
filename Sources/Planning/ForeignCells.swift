import CausewayExpressions
import CausewayMapping
import CausewayModel

/// The content of cells of attributes that the row's entity doesn't have, in a table that it shares with the
/// attribute's owner.
///
/// Core Data never reads it. Existing content stays; and if Core Data would add the column with ALTER TABLE, it fills
/// every row (InsideCoreDataMigration §7.5). A fused run goes back through its steps one by one, so that it gives the
/// same result as the single steps.
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
                // The first of several counts: an absorbed subentity comes after the entity that absorbs it.
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

    /// Where a column's cells come from, whatever their row's entity.
    struct Trace {
        /// Steps back from the last version to where the cells come from.
        var hops: [Hop] = []
        var origin = Origin.nothing

        struct Hop {
            var step: Int
            /// The entity that declares the attribute in the step's source, and its root there.
            var declaring: String
            var root: String
            var attribute: String
        }
    }

    /// A row's entity in each version but the last.
    struct Row {
        fileprivate var line: [(entity: String, root: String, kinds: Set<String>)]
    }

    /// Goes back from the last version. `path` is the attribute there (`composite.leaf` for a composite's leaf),
    /// `owner` the entity that declares it.
    func trace(_ path: String, declaredBy owner: String) -> Trace {
        var (path, owner) = (path, owner)
        var later: NumericConversion?
        var trace = Trace()
        for (index, step) in steps.enumerated().reversed() {
            guard let mapping = step.mappings[owner], let from = mapping.source, let mapped = mapping.attribute(path)
            else { return trace }
            switch mapped.value {
            case .carried(let origin, _, let conversion):
                let model = step.models.source
                let name = String(origin.prefix { $0 != "." })
                guard let declaring = model.owner(ofAttribute: name, seenBy: from) else { return trace }
                trace.hops.append(
                    .init(step: index, declaring: declaring, root: model.root(of: declaring), attribute: name))
                (path, owner) = (origin, declaring)
                later = conversion.followed(by: later)
            case .constant(let constant):
                guard mapped.fillsTable, fillsTables else { return trace }
                trace.origin = .constant(constant, step.models.destination.storedLeaf(path, of: owner), later)
                return trace
            case .derived: return trace
            }
        }
        trace.origin = .column(path: path, declaredBy: owner, later)
        return trace
    }

    /// Whether a row without the attribute holds the origin of the column's cells. A cell that the row's own entity
    /// could see has a value of its own, which its own mapping moves.
    func holds(_ trace: Trace, inRowsOf row: Row) -> Bool {
        if case .nothing = trace.origin { return false }
        for hop in trace.hops where row.line.indices.contains(hop.step) {
            guard row.line[hop.step].root == hop.root else { return false }
            if row.line[hop.step].kinds.contains(hop.declaring),
                steps[hop.step].models.source.owner(ofAttribute: hop.attribute, seenBy: row.line[hop.step].entity)
                    == hop.declaring
            {
                return false
            }
        }
        return true
    }

    /// `entity` is the row's in the first version.
    func row(of entity: String) -> Row {
        var row = Row(line: [])
        var next: String? = entity
        for step in steps {
            guard let entity = next else { break }
            let model = step.models.source
            row.line.append((entity, model.root(of: entity), Set(model.kinds(of: entity))))
            next = step.destinations[entity]
        }
        return row
    }
}
