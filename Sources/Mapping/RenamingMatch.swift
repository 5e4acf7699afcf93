package import CausewayModel

/// Pairs the elements of two versions by name and renaming identifier (InsideCoreDataMigration §4).
///
/// An identifier is a canonical name over several versions: an element's identifier is its renaming identifier, or its
/// name where none is set. A destination element finds its source by, in this order:
/// 1. the same identifier (v2 `hexColor` with identifier `color` → v3 `hexColor` with identifier `color`);
/// 2. a source element whose *name* is the destination's identifier (v2 kept no identifier, or v3 names v2's name);
/// 3. the same name, where nothing else claims that source element: an unknown identifier must not lose data. Each
///    source element serves one destination element at most.
package struct RenamingMatch {
    package struct Element {
        var name: String
        var renamingIdentifier: String?
        var identifier: String { renamingIdentifier ?? name }

        init(_ entity: Entity) { (name, renamingIdentifier) = (entity.name, entity.renamingIdentifier) }

        package init(_ attribute: Attribute) {
            (name, renamingIdentifier) = (attribute.name, attribute.renamingIdentifier)
        }

        init(_ relationship: Relationship) {
            (name, renamingIdentifier) = (relationship.name, relationship.renamingIdentifier)
        }
    }

    /// Source names by destination name.
    package private(set) var sources: [String: String] = [:]
    /// Destination elements that claim another one's source element: they are refused, not guessed.
    private(set) var conflicts: [(source: String, destinations: [String])] = []

    /// Destination elements whose source was settled so.
    private(set) var settled: [String] = []

    /// `origin` gives the name of the source element that a destination element continues, where several claim it;
    /// empty for one that continues none; nil where nothing was settled.
    package init(source: [Element], destination: [Element], origin: (String) -> String? = { _ in nil }) {
        var byIdentifier: [String: [String]] = [:]
        for element in source { byIdentifier[element.identifier, default: []].append(element.name) }
        let names = Set(source.map(\.name))
        var claims: [String: [String]] = [:]
        var unmatched: [Element] = []
        for element in destination {
            let candidates = byIdentifier[element.identifier] ?? []
            if candidates.count == 1 {
                claims[candidates[0], default: []].append(element.name)
            } else if candidates.contains(element.name) {
                claims[element.name, default: []].append(element.name)
            } else if names.contains(element.identifier) {
                claims[element.identifier, default: []].append(element.name)
            } else {
                unmatched.append(element)
            }
        }
        for element in unmatched where names.contains(element.name) && claims[element.name] == nil {
            claims[element.name] = [element.name]
        }
        for (source, destinations) in claims.sorted(by: { $0.key < $1.key }) {
            if destinations.count == 1 {
                sources[destinations[0]] = source
                continue
            }
            let chosen = destinations.filter { origin($0) == source }
            let left = destinations.filter { origin($0) != "" }
            if let one = chosen.count == 1 ? chosen.first : left.count == 1 ? left.first : nil {
                sources[one] = source
                settled += destinations.filter { origin($0) != nil }
            } else {
                conflicts.append((source, destinations.sorted()))
            }
        }
    }
}
