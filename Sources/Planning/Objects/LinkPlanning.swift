import CausewayEvaluation
package import CausewayExpressions
import CausewayMapping
import CausewayModel

/// Which relationships need no look-up in stage 2: keys that are carried with their rows, and the other ends of those.
package struct LinkPlanning {
    let planner: ObjectStepPlanner

    var source: StorageMap { planner.source }
    var destination: StorageMap { planner.destination }

    /// What a relationship mapping in one of Core Data's two forms reads: a source relationship, through one mapping or
    /// any.
    package struct Reading {
        package var relationship: String
        /// nil: any mapping whose result fits.
        package var mapping: String?
    }

    package static func reading(_ expression: Expression?) -> Reading? {
        guard case .function(.variable("manager")?, let name, let arguments)? = expression, arguments.count == 2,
            case .constant(.string(let first)) = arguments[0], let key = sourceKey(arguments[1])
        else { return nil }
        switch name {
        case "destinationInstancesForEntityMappingNamed:sourceInstances:":
            return Reading(relationship: key, mapping: first)
        case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
            return Reading(relationship: key, mapping: nil)
        default: return nil
        }
    }

    static func sourceKey(_ expression: Expression) -> String? {
        switch expression {
        case .keyPath(.variable("source"), let path) where !path.contains(".") && !path.contains("@"): path
        case .keyPath(.evaluatedObject, let path) where !path.contains(".") && !path.contains("@"): path
        case .function(.variable("source")?, "valueForKey:", let arguments):
            if case .constant(.string(let key))? = arguments.first { key } else { nil }
        default: nil
        }
    }

    /// Names of those relationships of stage 2 that follow from more than a to-one of the source row.
    func distant(
        _ relationships: [EntityMappingPlan.RelationshipFill], of mapping: EntityMappingDescription
    ) -> [String] {
        relationships.map(\.name).filter { name in
            let property = mapping.relationshipMappings.first { $0.name == name }
            guard let reading = Self.reading(property?.expression),
                case .toOne? = place(reading.relationship, of: mapping.sourceEntity, in: source)
            else { return true }
            return false
        }
    }

    /// The mappings whose rows can be the result, by source Z_ENT; nil if the keys don't identify the row.
    ///
    /// A name means the mapping of that name in the same mapping model, if there is one.
    func targets(
        _ reading: Reading, of declared: String, leadingTo kind: String, from index: Int
    ) -> [Int32: Int]? {
        let search = search(reading, of: declared, leadingTo: kind, from: index)
        if let known = planner.memory.targets[search] { return known.value }
        let result = findTargets(search)
        planner.memory.targets[search] = LinkMemory.Known(value: result)
        return result
    }

    private func findTargets(_ search: LinkMemory.Search) -> [Int32: Int]? {
        guard let all = candidates(search) else { return nil }
        var result: [Int32: Int] = [:]
        for (number, found) in all {
            guard let first = found.first, found.count == 1, planner.keeping[first] == .always else { return nil }
            result[number] = first
        }
        return result
    }

    /// All mappings whose rows can be the result, by source Z_ENT; nil where objects can be of which no mapping tells.
    func candidates(
        _ reading: Reading, of declared: String, leadingTo kind: String, from index: Int
    ) -> [Int32: [Int]]? {
        candidates(search(reading, of: declared, leadingTo: kind, from: index))
    }

    private func candidates(_ search: LinkMemory.Search) -> [Int32: [Int]]? {
        if let known = planner.memory.candidates[search] { return known.value }
        let result = findCandidates(search)
        planner.memory.candidates[search] = LinkMemory.Known(value: result)
        return result
    }

    private func search(
        _ reading: Reading, of declared: String, leadingTo kind: String, from index: Int
    ) -> LinkMemory.Search {
        let model = planner.entities[index].model
        let isNamedHere = reading.mapping.map { names(of: model).contains($0) } ?? false
        return LinkMemory.Search(
            mapping: reading.mapping, model: isNamedHere ? model : nil, declared: declared, kind: kind)
    }

    /// The names of a mapping model's entity mappings.
    private func names(of model: Int) -> Set<String> {
        if let known = planner.memory.names[model] { return known }
        let result = Set(planner.entities.filter { $0.model == model }.map(\.mapping.mapping.name))
        planner.memory.names[model] = result
        return result
    }

    private func findCandidates(_ search: LinkMemory.Search) -> [Int32: [Int]]? {
        func isMeant(_ index: Int) -> Bool {
            guard let wanted = search.mapping else { return true }
            return wanted == planner.entities[index].mapping.mapping.name
                && (search.model.map { planner.entities[index].model == $0 } ?? true)
        }
        func isFitting(_ index: Int) -> Bool {
            let mapping = planner.entities[index].mapping.mapping
            guard mapping.kind != .remove, let made = mapping.destinationEntity else { return false }
            return destination.schema.model.isKind(made, of: search.kind)
        }
        var result: [Int32: [Int]] = [:]
        var known: Set<Int> = []
        for (offset, name) in source.schema.entities.enumerated()
        where source.schema.model.isKind(name, of: search.declared) {
            let all = (readers[name] ?? []).filter(isMeant)
            let found = all.filter(isFitting)
            known.formUnion(found)
            if !found.isEmpty { result[Int32(offset + 1)] = found }
            // A policy may make objects of any entity, and associate them with its rows.
            if all.contains(where: { hasPolicy($0) && !isFitting($0) }) { return nil }
        }
        // What is looked up by name may be associated with rows that the mapping doesn't read.
        if search.mapping != nil,
            planner.entities.indices.contains(where: { isMeant($0) && hasPolicy($0) && !known.contains($0) })
        {
            return nil
        }
        return result
    }

    private func hasPolicy(_ index: Int) -> Bool { planner.entities[index].mapping.mapping.policyClassName != nil }

    /// Z_ENT of the entities whose rows a mapping reads.
    func sourceEntities(of index: Int) -> Set<Int32> {
        Set(sources(of: index).compactMap { source.number(of: $0) })
    }

    private func sources(of index: Int) -> [String] {
        let resolved = planner.entities[index].mapping
        guard let from = resolved.mapping.sourceEntity else { return [] }
        return resolved.rows.includesSubentities ? source.schema.model.entityAndSubentities(of: from) : [from]
    }

    /// The mappings that read an entity's rows, by its name.
    private var readers: [String: [Int]] {
        if let known = planner.memory.readers { return known }
        var result: [String: [Int]] = [:]
        for index in planner.entities.indices {
            for name in sources(of: index) { result[name, default: []].append(index) }
        }
        planner.memory.readers = result
        return result
    }

    /// The key of a to-one that is carried with the row; nil if stage 2 must link.
    func keyFill(
        _ property: PropertyMappingDescription, of index: Int, _ fill: EntityMappingPlan.RelationshipFill,
        _ columns: inout SourceColumns
    ) throws(PlanError) -> EntityMappingPlan.KeyFill? {
        guard let link = carriedLink(property, of: index) else { return nil }
        var numbers: [Int32: Int32] = [:]
        for (from, target) in link.targets {
            numbers[from] = destination.number(of: planner.entities[target].mapping.mapping.destinationEntity)
        }
        return EntityMappingPlan.KeyFill(
            key: try columns.index(of: link.from.column),
            entity: try link.from.entityColumn.map { column throws(PlanError) in try columns.index(of: column) },
            place: try (isOrderTaken(over: link) ? link.from.orderColumn : nil).map { column throws(PlanError) in
                try columns.index(of: column)
            },
            numbers: numbers, declared: link.from.destination, column: link.to.column,
            entityColumn: link.to.entityColumn, placeColumn: link.to.orderColumn, relationship: fill,
            targets: link.targets.values.sorted())
    }

    struct CarriedLink {
        var from: ToOneStorage
        var to: ToOneStorage
        var targets: [Int32: Int]
    }

    func place(_ name: String, of entity: String?, in map: StorageMap) -> PropertyStorage? {
        guard let number = map.number(of: entity), let handle = map.schema.handle(of: name) else { return nil }
        return map.place(of: handle, entity: number)
    }

    /// A to-one whose key comes with the row, as nobody sets the other end before.
    func carriedLink(_ property: PropertyMappingDescription, of index: Int) -> CarriedLink? {
        guard let link = steadyLink(property, of: index), !isOvertaken(link.to, of: index),
            isInOrder(Setter(mapping: index, property: property), link)
        else { return nil }
        return link
    }

    /// A to-one whose target's key is known from the row itself.
    func steadyLink(_ property: PropertyMappingDescription, of index: Int) -> CarriedLink? {
        let place = LinkMemory.Place(mapping: index, property: property.name)
        if let known = planner.memory.links[place] { return known.value }
        let link = findSteadyLink(property, of: index)
        planner.memory.links[place] = LinkMemory.Known(value: link)
        return link
    }

    private func findSteadyLink(_ property: PropertyMappingDescription, of index: Int) -> CarriedLink? {
        let mapping = planner.entities[index].mapping.mapping
        // A policy may link differently from the mapping model, or not at all: its hook decides.
        guard mapping.policyClassName == nil, let reading = Self.reading(property.expression),
            case .toOne(let to)? = place(property.name, of: mapping.destinationEntity, in: destination),
            case .toOne(let from)? = place(reading.relationship, of: mapping.sourceEntity, in: source),
            let targets = targets(
                reading, of: from.relationship.destination, leadingTo: to.relationship.destination, from: index)
        else { return nil }
        if let inverse = to.oneToOneInverse {
            // Both ends have a column: the other end's mapping must carry the same links.
            guard from.oneToOneInverse != nil,
                targets.values.allSatisfy({ mirrors(inverse.index, from, in: $0, of: index) }),
                isExclusive(Setter(mapping: index, property: property), to, targets: Set(targets.values))
            else { return nil }
        }
        return CarriedLink(from: from, to: to, targets: targets)
    }

    /// Whether the mapping `target` carries the inverse of a source to-one into the destination's property `inverse`,
    /// back to the rows of the mapping `index`.
    private func mirrors(_ inverse: Int, _ from: ToOneStorage, in target: Int, of index: Int) -> Bool {
        let name = destination.schema.names[inverse]
        let mapping = planner.entities[target].mapping.mapping
        guard mapping.policyClassName == nil,
            let property = mapping.relationshipMappings.first(where: { $0.name == name }),
            let reading = Self.reading(property.expression), reading.relationship == from.relationship.inverse,
            case .toOne(let back)? = place(reading.relationship, of: mapping.sourceEntity, in: source),
            case .toOne(let to)? = place(name, of: mapping.destinationEntity, in: destination),
            let mine = source.number(of: planner.entities[index].mapping.mapping.sourceEntity)
        else { return false }
        let found = candidates(
            reading, of: back.relationship.destination, leadingTo: to.relationship.destination, from: target)
        return found?[mine] == [index]
    }
}
