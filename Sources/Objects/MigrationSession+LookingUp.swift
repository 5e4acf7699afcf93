package import CausewayEvaluation
import CausewayModel
import CausewayPlanning

/// Look-ups of policies and expressions: associations, and rows that are shared by value.
extension MigrationSession {
    /// The associations, including those of the rows so far.
    private func complete() throws(ObjectError) -> Associations {
        guard let associations else {
            // A hook may swallow the error.
            destination.asked.others = true
            throw ObjectError(
                .detached, "an independent policy can't look up associations: they are complete only after stage 1")
        }
        try recordPending()
        return associations
    }

    func destinations(mappingNamed name: String, of sources: [ObjectID]) throws(ObjectError) -> [ObjectID] {
        let mapping = try mapping(named: name)
        var result: [ObjectID] = []
        for source in sources {
            // The current hook's results are known without a look-up, to independent policies too.
            if let row, row.source == source, row.mapping == mapping {
                result += try results(of: row)
            } else {
                result += try destinations(of: source, mapping: mapping, try complete())
            }
        }
        return result
    }

    /// The first object that a row has become under a mapping, if the row is the current one.
    func ownDestination(mappingNamed name: String, of source: ObjectID) -> ObjectID? {
        guard let row, row.source == source, row.others.isEmpty, let first = row.first,
            destination.deletions == row.deletions, mappings[row.mapping].name == name,
            currentMapping?.index == row.mapping
        else { return nil }
        return first
    }

    /// The first object that a source object has become under a mapping.
    func destination(of source: ObjectID, mapping: Int) throws(ObjectError) -> ObjectID? {
        if let row, row.source == source, row.mapping == mapping { return try results(of: row).first }
        return try destinations(of: source, mapping: mapping, try complete()).first
    }

    /// Under any mapping; `fitting` keeps objects of that entity.
    func destinations(of sources: [ObjectID], fitting: String?) throws(ObjectError) -> [ObjectID] {
        let associations = try complete()
        var result: [ObjectID] = []
        for source in sources {
            for mapping in mappings.indices {
                guard
                    plans[mapping].sourceEntity == source.entity
                        || associations.sourceEntities(of: mapping).contains(source.entity)
                else { continue }
                for found in try destinations(of: source, mapping: mapping, associations)
                where fitting.map({ destination.map.isKind(found.entity, of: $0) }) ?? true {
                    result.append(found)
                }
            }
        }
        return result
    }

    private func destinations(
        of source: ObjectID, mapping: Int, _ associations: Associations
    ) throws(ObjectError) -> [ObjectID] {
        var recorded = try associations.results(of: source, mapping: mapping)
        if destination.deletions > 0 {
            for (place, made) in recorded.own.enumerated() {
                if let made, try !destination.exists(made) { recorded.own[place] = nil }
            }
            var left: [ObjectID] = []
            for made in recorded.further where try destination.exists(made) { left.append(made) }
            recorded.further = left
        }
        guard recorded.own.isEmpty else { return recorded.own.compactMap(\.self) + recorded.further }
        guard plans[mapping].keeping == .always, plans[mapping].sourceEntity == source.entity,
            let entity = plans[mapping].destinationEntity, destination.mayBeKept(source.key, of: entity)
        else { return recorded.further }
        let object = ObjectID(side: .destination, entity: entity, key: source.key)
        guard try destination.exists(object) else { return recorded.further }
        return [object] + recorded.further.filter { $0 != object }
    }

    /// In stage 2: the results of a source row under a mapping.
    package func keptDestinations(of source: ObjectID, mapping: Int) throws(ObjectError) -> [ObjectID] {
        try destinations(of: source, mapping: mapping, try complete())
    }

    func sources(mappingNamed name: String, of destinations: [ObjectID]) throws(ObjectError) -> [ObjectID] {
        let mapping = try mapping(named: name)
        let associations = try complete()
        var result: [ObjectID] = []
        for object in destinations {
            let recorded =
                try associations.hasEntries(mapping) ? associations.sources(of: object, mapping: mapping) : []
            if let own = try keptSource(of: object, mapping, associations), !recorded.contains(own) {
                result.append(own)
            }
            result += recorded
        }
        return result
    }

    /// The source row whose key an object has kept.
    private func keptSource(
        of object: ObjectID, _ mapping: Int, _ associations: Associations
    ) throws(ObjectError) -> ObjectID? {
        let plan = plans[mapping]
        guard plan.keeping == .always, plan.destinationEntity == object.entity, let entity = plan.sourceEntity,
            destination.mayBeKept(object.key, of: object.entity)
        else { return nil }
        let from = ObjectID(side: .source, entity: entity, key: object.key)
        guard try source.exists(from) else { return nil }
        return try associations.results(of: from, mapping: mapping).own.isEmpty ? from : nil
    }

    func findOrInsert(
        _ entity: String, _ attribute: PropertyKey, _ value: Value
    ) throws(ObjectError) -> (object: ObjectID, isNew: Bool) {
        guard let associations else {
            destination.asked.others = true
            throw ObjectError(.detached, "an independent policy can't share rows with other rows; make it dependent")
        }
        let number = try destination.number(of: entity)
        let handle = try destination.key(attribute.name)
        guard let resolved = handle.handle,
            case .attribute(_, let description)? = destination.map.place(of: resolved, entity: number)
        else { throw ObjectError(.unknownProperty, "\(entity) has no attribute “\(attribute.name)”") }
        let any = ObjectID(side: .destination, entity: number, key: 0)
        let cell = try destination.cell(for: value, as: AttributeForm(description), named: attribute.name, of: any)
        guard let stored = SharedRowCache.Stored(cell) else {
            throw ObjectError(.type, "\(entity).\(attribute.name): NULL identifies no row; make one with insert(_:)")
        }
        let key = SharedRowCache.Key(entity: number, attribute: attribute.name, value: stored)
        if destination.deletions != deletionsSeen {
            deletionsSeen = destination.deletions
            shared.removeAll()
        }
        if let found = shared[key] { return (ObjectID(side: .destination, entity: number, key: found), false) }
        if let found = try associations.sharedKey(number, attribute.name, cell) {
            let object = ObjectID(side: .destination, entity: number, key: found)
            // A policy may have deleted it.
            let isThere = try deletionsSeen == 0 ? true : destination.exists(object)
            if isThere {
                shared[key] = found
                return (object, false)
            }
        }
        let kept = destination.keptKey
        destination.keptKey = nil
        let made = try destination.insert(number)
        destination.keptKey = kept
        try destination.set(handle, of: made, to: value)
        try associations.rememberShared(number, attribute.name, cell, key: made.key)
        shared[key] = made.key
        return (made, true)
    }
}
