import CausewayMapping
import CausewaySQLite
import CausewayStoreFormat

// An inferred step after mapping models, with which it runs together: what its passes do, as entity mappings.

extension StepPlan {
    /// The same step, made as the rows of mapping models are: each row of the step before goes through the pass of its
    /// table before it is packed.
    ///
    /// - Parameter before: has mapping models, whose rows keep their keys.
    /// - Returns: without passes, with an entity mapping for each entity that the step before makes.
    /// - Throws: where a name can't be SQLite's.
    package func asMappings(after before: StepPlan) throws(PlanError) -> StepPlan {
        let (source, destination) = (try StorageMap(before.layout), try StorageMap(layout))
        var mappings: [EntityMappingPlan] = []
        for earlier in before.objects?.mappings ?? [] where earlier.sourceEntity != nil {
            guard let entity = earlier.description.destinationEntity, let number = source.number(of: entity),
                let table = before.layout.table(of: entity), let pass = rows(from: table.name),
                let projection = pass.projections[Int(number)]
            else { continue }
            let description = EntityMappingDescription(
                name: EntityMappingDescription.defaultName(source: entity, destination: projection.entity), kind: .copy,
                sourceEntity: entity, destinationEntity: projection.entity)
            let none = RowShape(table: pass.shape.table)
            mappings.append(
                EntityMappingPlan(
                    description: description, index: mappings.count, modelIndex: 0, sourceEntity: number,
                    destinationEntity: destination.number(of: projection.entity), keeping: .always, isIndependent: true,
                    hasStage2Hook: false, shape: pass.shape, cells: [], linkShape: none, linkCells: [], filter: nil,
                    attributes: [], keys: [], relationships: []))
        }
        var step = self
        step.passes = []
        let objects = ObjectStep(
            models: [], mappings: mappings, source: source, destination: destination,
            homes: destination.tables.map { rows(of: $0.name.name)?.sourceTable }, joins: [],
            cleanups: ObjectStep.cleanups(of: destination), policies: [], isResumable: true, warnings: [])
        step.objects = objects
        step.methods = StepMethods(of: objects, indexes, derivedValues: derivedValues, obstacle: nil)
        step.projected = passes
        return step
    }

    /// The pass that reads an entity table of the step before; nil where none does, or where several do.
    package func rows(from table: String) -> RowPass? {
        let found = (projected ?? passes).filter { $0.kind == .entity && $0.sourceTable == table }
        return found.count == 1 ? found[0] : nil
    }
}
