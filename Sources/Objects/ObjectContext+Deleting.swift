import CausewayEvaluation
import CausewayModel
import CausewaySQLite

/// Deleting, with the delete rules of the model.
extension ObjectContext {
    /// Objects that one deletion may reach through cascades: bounds memory; a larger tree is deleted from its leaves.
    private static let cascadeLimit = 100_000

    func delete(_ object: ObjectID) throws(ObjectError) {
        if case .readOnly = mode { throw ObjectError(.store, "\(name(object)): the source store is only read") }
        var doomed: [ObjectID] = [object]
        var known: Set<ObjectID> = [object]
        var index = 0
        while index < doomed.count {
            for next in try cascade(from: doomed[index], doomed: known) where known.insert(next).inserted {
                doomed.append(next)
            }
            guard doomed.count <= Self.cascadeLimit else {
                throw ObjectError(
                    .denied, "\(name(object)): deleting it reaches more than \(Self.cascadeLimit) objects; delete them first")
            }
            index += 1
        }
        for object in doomed.reversed() { try erase(object) }
    }

    /// What falls with the object. Its other links are ended.
    private func cascade(from object: ObjectID, doomed: Set<ObjectID>) throws(ObjectError) -> [ObjectID] {
        var result: [ObjectID] = []
        for index in map.schema.names.indices {
            guard let place = map.place(of: .init(index: index), entity: object.entity),
                let relationship = place.relationship
            else { continue }
            switch relationship.deleteRule {
            case .noAction: continue
            case .cascade: result += try members(of: place, object)
            case .deny:
                guard try members(of: place, object).allSatisfy({ doomed.contains($0) }) else {
                    throw ObjectError(
                        .denied, "\(name(object)).\(relationship.name) has members, and its delete rule denies deleting it")
                }
            case .nullify:
                for member in try members(of: place, object) { try removeMember(member, from: place, of: object) }
            }
        }
        return result
    }

    private func members(of place: PropertyStorage, _ object: ObjectID) throws(ObjectError) -> [ObjectID] {
        guard case .toOne(let link) = place else { return try targets(of: place, in: object) }
        return try target(of: link, in: object).map { [$0] } ?? []
    }

    private func erase(_ object: ObjectID) throws(ObjectError) {
        let (table, row) = try locate(object)
        if tables[table].states[row].contains(.inserted) {
            tables[table].remove(row)
            return
        }
        try flush()
        guard let statements else { return }
        do {
            let box = try statements.statement("DELETE FROM \(map.tables[table].name) WHERE \"Z_PK\" = ?")
            try box.statement.bind(object.key, at: 1)
            try box.statement.run()
            for index in map.schema.names.indices {
                guard case .join(let link)? = map.place(of: .init(index: index), entity: object.entity) else { continue }
                let turned = link.isReflexive ? " OR \(link.theirs) = ?1" : ""
                let box = try statements.statement("DELETE FROM \(link.table) WHERE \(link.mine) = ?1\(turned)")
                try box.statement.bind(object.key, at: 1)
                try box.statement.run()
            }
        } catch {
            throw ObjectError(error, during: name(object))
        }
    }
}

extension PropertyStorage {
    var relationship: Relationship? {
        switch self {
        case .toOne(let link): link.relationship
        case .toMany(let link): link.relationship
        case .join(let link): link.relationship
        case .attribute, .composite, .none: nil
        }
    }
}
