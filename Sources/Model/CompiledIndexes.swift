import CausewayExpressions

/// What Xcode's compiler adds to an entity's indexes (InsideStoreFormat §7).
enum CompiledIndexes {
    /// Completes an entity whose source has `explicit` fetch indexes, and `compounds` from before fetch indexes.
    ///
    /// An attribute counts as indexed if it is marked so or if a fetch index consists of it alone, binary and
    /// ascending. Every indexed attribute and every compound gives a fetch index of its own name, unless the source has
    /// one of that name; these come first, sorted. (Wire's caches have the compounds after the attributes; the order
    /// only affects that of `CREATE INDEX`, which was verified as in InsideStoreFormat §7.)
    static func complete(_ entity: inout Entity, explicit: [FetchIndex], compounds: [[String]]) {
        for position in entity.attributes.indices {
            let name = entity.attributes[position].name
            let alone = FetchIndex.Element(.property(name))
            if explicit.contains(where: { $0.elements == [alone] }) { entity.attributes[position].isIndexed = true }
        }
        let named = Set(explicit.map(\.name))
        var implicit = entity.attributes.filter(\.isIndexed).map { [$0.name] } + compounds
        implicit = implicit.filter { !named.contains($0.joined(separator: "_")) }
        let indexes = implicit.map { properties in
            FetchIndex(
                name: properties.joined(separator: "_"), elements: properties.map { .init(.property($0)) })
        }
        entity.fetchIndexes = indexes.sorted { ManagedObjectModel.compareOrder($0.name, $1.name) } + explicit
    }

    /// The legacy form of an entity's fetch indexes, which archives carry beside them: those of several elements, all
    /// binary, none of them a relationship, whatever their direction or predicate (true of every Photos, Wire and
    /// CoreDataPlus archive that has both).
    static func compounds(of entity: Entity, in model: ManagedObjectModel) -> [[String]] {
        var names: [[String]] = []
        for index in entity.fetchIndexes where index.elements.count > 1 {
            var elements: [String] = []
            for element in index.elements where element.kind == .binary {
                switch element.indexed {
                case .property(let name):
                    if model.relationship(name, of: entity.name) == nil { elements.append(name) }
                case .expression(_, let expression):
                    elements.append(expression == .evaluatedObject ? "self" : expression.predicateFormat)
                }
            }
            if elements.count == index.elements.count { names.append(elements) }
        }
        return names
    }
}
