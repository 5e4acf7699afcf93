import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel

/// Core Data sets to-ones and adds to to-manys mapping by mapping; of two that link the same row, the later wins. Which
/// settings of stage 2 can be left out, and which keys may come with their rows although others set the other end.
extension LinkPlanning {
    /// A property mapping that sets a relationship.
    struct Setter {
        let mapping: Int
        let property: PropertyMappingDescription
    }

    /// The property mappings that set a relationship of an entity or of its subentities, in their order.
    func setters(of relationship: String, of entity: String) -> [Setter] {
        makers(of: entity).compactMap { setter(of: relationship, in: $0) }
    }

    /// The mappings that make rows of an entity or of its subentities.
    private func makers(of entity: String) -> [Int] {
        if let known = planner.memory.makers[entity] { return known }
        let result = planner.entities.indices.filter { index in
            let mapping = planner.entities[index].mapping.mapping
            guard mapping.kind != .remove, let made = mapping.destinationEntity else { return false }
            return destination.schema.model.isKind(made, of: entity)
        }
        planner.memory.makers[entity] = result
        return result
    }

    private func setter(of relationship: String, in index: Int) -> Setter? {
        planner.entities[index].mapping.mapping.relationshipMappings
            .first { $0.name == relationship && $0.expression != nil }
            .map { Setter(mapping: index, property: $0) }
    }

    /// The mappings whose rows a setter may link to; nil where that can't be told.
    private func possibleTargets(_ setter: Setter, leadingTo kind: String) -> Set<Int>? {
        setter.property.expression.flatMap { possibleTargets($0, of: setter.mapping, leadingTo: kind) }
    }

    private func possibleTargets(_ expression: Expression, of index: Int, leadingTo kind: String) -> Set<Int>? {
        if expression == .constant(.null) { return [] }
        if case .conditional(_, let first, let second) = expression {
            guard let first = possibleTargets(first, of: index, leadingTo: kind),
                let second = possibleTargets(second, of: index, leadingTo: kind)
            else { return nil }
            return first.union(second)
        }
        guard let reading = Self.reading(expression), let from = planner.entities[index].mapping.mapping.sourceEntity,
            let read = source.schema.model.relationship(reading.relationship, of: from)?.relationship
        else { return nil }
        return candidates(reading, of: read.destination, leadingTo: kind, from: index).map { Set($0.values.joined()) }
    }

    // MARK: - To-manys

    /// Whether a to-many needn't be set, as the rows at its other end say the same, or say later what counts.
    func isUnneeded(_ property: PropertyMappingDescription, of index: Int) -> Bool {
        guard let entity = planner.entities[index].mapping.mapping.destinationEntity,
            case .toMany? = place(property.name, of: entity, in: destination)
        else { return false }
        return !acting(on: property.name, of: entity).contains(index)
    }

    /// The mappings that must set a to-many in stage 2.
    private func acting(on relationship: String, of entity: String) -> [Int] {
        let owner = destination.schema.model.relationship(relationship, of: entity)?.owner ?? entity
        let key = "\(owner).\(relationship)"
        if let known = planner.memory.acting[key] { return known }
        let all = setters(of: relationship, of: owner)
        var result: [Int] = []
        if destination.schema.model.relationship(relationship, of: entity)?.relationship.isOrdered == true {
            if !areInOrder(all) { result = all.map(\.mapping) }
        } else {
            for setter in all where acts(setter, after: !result.isEmpty) { result.append(setter.mapping) }
        }
        planner.memory.acting[key] = result
        return result
    }

    /// Whether the rows at the other end say the same as an ordered to-many, all of them: then they bring their places
    /// in the source's order. A row that came later would be the last.
    private func areInOrder(_ setters: [Setter]) -> Bool {
        guard let first = setters.first,
            case .toMany(let to)? = place(
                first.property.name, of: planner.entities[first.mapping].mapping.mapping.destinationEntity,
                in: destination), let inverse = to.relationship.inverse
        else { return setters.isEmpty }
        let own = self.setters(of: inverse, of: to.relationship.destination)
        let readings = Dictionary(
            setters.map { ($0.mapping, Self.reading($0.property.expression)) }, uniquingKeysWith: { first, _ in first })
        func agree(_ own: Setter, with owner: Int) -> Bool {
            guard planner.entities[owner].mapping.mapping.policyClassName == nil, let reading = readings[owner] ?? nil
            else { return false }
            return agrees(own, with: reading, to, of: owner)
        }
        let leadBack = own.allSatisfy { setter in
            guard let link = steadyLink(setter.property, of: setter.mapping) else { return false }
            return link.targets.values.allSatisfy { agree(setter, with: $0) }
        }
        guard leadBack else { return false }
        let byMapping = Dictionary(own.map { ($0.mapping, $0) }, uniquingKeysWith: { first, _ in first })
        return setters.allSatisfy { setter in
            guard let members = possibleTargets(setter, leadingTo: to.relationship.destination) else { return false }
            return members.allSatisfy { member in byMapping[member].map { agree($0, with: setter.mapping) } ?? false }
        }
    }

    /// Whether adding to a to-many changes what its members' own mappings make of the links. `isLate` says that others
    /// have added members before, which this one may take over.
    private func acts(_ setter: Setter, after isLate: Bool) -> Bool {
        let index = setter.mapping
        let mapping = planner.entities[index].mapping.mapping
        guard mapping.policyClassName == nil, let reading = Self.reading(setter.property.expression),
            case .toMany(let to)? = place(setter.property.name, of: mapping.destinationEntity, in: destination),
            let inverse = to.relationship.inverse,
            let members = possibleTargets(setter, leadingTo: to.relationship.destination)
        else { return true }
        for member in makers(of: to.relationship.destination) {
            let own = self.setter(of: inverse, in: member)
            if let own, agrees(own, with: reading, to, of: index) {
                if isLate, member <= index { return true }
                continue
            }
            // Its rows are set anew.
            if own != nil, member > index, planner.hasNoPolicy, planner.followsSource(index) { continue }
            // Other rows that link here stay: members are added.
            if members.contains(member) { return true }
        }
        return false
    }

    /// The entity that declares what a setter sets.
    private func owner(of setter: Setter) -> String {
        let entity = planner.entities[setter.mapping].mapping.mapping.destinationEntity ?? ""
        return destination.schema.model.relationship(setter.property.name, of: entity)?.owner ?? entity
    }

    /// Whether a to-one holds the same links as the to-many at its other end, and leads back to the rows of that
    /// mapping, not only of others.
    private func agrees(_ own: Setter, with reading: Reading, _ to: ToManyStorage, of index: Int) -> Bool {
        let mapping = planner.entities[index].mapping.mapping
        guard planner.keeping[index] == .always, let mine = source.number(of: mapping.sourceEntity),
            case .toMany(let from)? = place(reading.relationship, of: mapping.sourceEntity, in: source),
            let origin = from.relationship.inverse,
            Self.reading(own.property.expression)?.relationship == origin,
            let targets = targets(
                reading, of: from.relationship.destination, leadingTo: to.relationship.destination, from: index),
            targets.values.contains(own.mapping)
        else { return false }
        return steadyLink(own.property, of: own.mapping)?.targets[mine] == index
    }

    // MARK: - To-ones

    /// Whether the other end of a to-one is set before, or by the same mapping: what comes with the rows would be
    /// changed by what Core Data has done before it.
    func isOvertaken(_ to: ToOneStorage, of index: Int) -> Bool {
        guard let inverse = to.relationship.inverse, to.oneToOneInverse == nil else { return false }
        return acting(on: inverse, of: to.relationship.destination).contains { $0 <= index }
    }

    /// Whether the ends of a one-to-one are set by nobody but the mappings of a link and of its targets.
    func isExclusive(_ setter: Setter, _ to: ToOneStorage, targets: Set<Int>) -> Bool {
        guard let inverse = to.relationship.inverse,
            setters(of: inverse, of: to.relationship.destination).allSatisfy({ targets.contains($0.mapping) })
        else { return false }
        return setters(of: setter.property.name, of: owner(of: setter)).allSatisfy { other in
            if other.mapping == setter.mapping { return true }
            return possibleTargets(other, leadingTo: to.relationship.destination)?.isDisjoint(with: targets) ?? false
        }
    }

    // MARK: - Places

    /// Whether a row's place in an ordered to-many is that of its source: where the to-many's own mappings take over
    /// the order. Otherwise the row comes after those that are set before it.
    func isOrderTaken(over link: CarriedLink) -> Bool {
        guard link.from.orderColumn != nil, link.to.orderColumn != nil, let inverse = link.to.relationship.inverse
        else {
            return false
        }
        let kind = link.to.relationship.destination
        return !setters(of: inverse, of: kind).isEmpty && acting(on: inverse, of: kind).isEmpty
    }

    /// Whether the places of a to-one's rows follow from the order in which the rows are made: they are the source's,
    /// or all rows before get new ones, too.
    func isInOrder(_ setter: Setter, _ link: CarriedLink) -> Bool {
        guard link.to.orderColumn != nil, let inverse = link.to.relationship.inverse else { return true }
        let kind = link.to.relationship.destination
        if !setters(of: inverse, of: kind).isEmpty, acting(on: inverse, of: kind).isEmpty { return true }
        return setters(of: setter.property.name, of: owner(of: setter)).allSatisfy {
            $0.mapping >= setter.mapping || steadyLink($0.property, of: $0.mapping) != nil
        }
    }
}
