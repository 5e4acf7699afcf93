import CausewayModel

extension ManagedObjectModel {
    /// The attribute at a path: a name, or `composite.leaf`; inherited and transient ones included.
    func attribute(path: String, of entity: String) -> Attribute? {
        if let direct = attribute(path, of: entity)?.attribute { return direct }
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count > 1, var found = attribute(names.removeFirst(), of: entity)?.attribute else { return nil }
        for name in names {
            guard let element = found.elements.first(where: { $0.name == name }) else { return nil }
            found = element
        }
        return found
    }

    /// The attributes whose values a migration moves, inherited ones included, sorted by name. Transient ones aren't
    /// stored, and derived ones are computed.
    func migratableAttributes(of entity: String) -> [Attribute] {
        allAttributes(of: entity).values
            .filter { !$0.isTransient && $0.derivation == nil && $0.type != .undefined }
            .sorted { ManagedObjectModel.compareOrder($0.name, $1.name) }
    }
}

extension Attribute {
    /// Paths of its leaves below the attribute: `.street`, `.place.city`; an empty path if it isn't a composite.
    var leafPaths: [String] {
        type == .composite ? elements.flatMap { element in element.leafPaths.map { ".\(element.name)\($0)" } } : [""]
    }
}
