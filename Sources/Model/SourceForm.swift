import CausewayExpressions
import CausewayXML

/// A model reduced to what Xcode's source can say of it, with a sentence for everything that it can't.
///
/// What takes part in version hashes is never left out: a model that needs more than the source has is refused. The
/// rest (default values of the app's own classes, validation rules that only code can make, user info that is no text)
/// is left out and named. The source's reader gives exactly `model`, which the writer checks.
struct SourceForm {
    private(set) var model: ManagedObjectModel
    /// What is left out; no version hash depends on it.
    private(set) var leftOut: [ModelError.Problem] = []
    /// What can't be left out.
    private(set) var refusals: [ModelError.Problem] = []
    /// The elements of each composite type, by the name that is made up for it, in order of first use.
    private(set) var composites: [(name: String, elements: [Attribute])] = []
    /// Names of expressions in fetch indexes count through the model, as the reader counts them.
    private var expressionCount = 0
    /// The entity and property being reduced, for messages.
    private var entityName: String?
    private var propertyName: String?

    init(_ original: ManagedObjectModel) {
        model = original
        reduceIdentifiers()
        for (name, members) in original.configurations.sorted(by: { ManagedObjectModel.compareOrder($0.key, $1.key) }) {
            requireWritable(name, "the configuration's name")
            model.configurations[name] = members.sorted(by: ManagedObjectModel.compareOrder)
        }
        for name in original.entities.keys.sorted(by: ManagedObjectModel.compareOrder) {
            guard let entity = original.entities[name] else { continue }
            entityName = name
            model.entities[name] = reduced(entity)
            entityName = nil
        }
        // As the reader derives them from the fetch indexes, which say the same and more.
        let compounds = model.entities.mapValues { CompiledIndexes.compounds(of: $0, in: model) }
        for (name, lists) in compounds { model.entities[name]?.compoundIndexes = lists }
        model.canonicaliseInverses()
    }

    /// The source has one identifier, maybe an empty one.
    private mutating func reduceIdentifiers() {
        let identifiers = model.versionIdentifiers.sorted(by: ManagedObjectModel.compareOrder)
        let kept = identifiers.first { !$0.isEmpty && XMLWriter.canWrite($0) } ?? ""
        for identifier in identifiers where identifier != kept && !identifier.isEmpty {
            leaveOut("the version identifier “\(identifier)”; the source has one, “\(kept)”")
        }
        model.versionIdentifiers = [kept]
    }

    // MARK: - Entities

    private mutating func reduced(_ original: Entity) -> Entity {
        var entity = original
        requireWritable(entity.name, "the entity's name")
        entity.managedObjectClassName = writable(entity.managedObjectClassName, "the class")
        entity.renamingIdentifier = renaming(entity.renamingIdentifier, of: entity.name)
        entity.versionHashModifier = modifier(entity.versionHashModifier)
        entity.userInfo = reduced(entity.userInfo)
        for constraint in entity.uniquenessConstraints.joined() { requireWritable(constraint, "a constraint") }
        entity.uniquenessConstraints.removeAll(where: \.isEmpty)
        entity.sortProperties()
        for position in entity.attributes.indices {
            propertyName = entity.attributes[position].name
            entity.attributes[position] = reduced(entity.attributes[position], depth: 0)
        }
        for position in entity.relationships.indices {
            propertyName = entity.relationships[position].name
            entity.relationships[position] = reduced(entity.relationships[position])
        }
        for position in entity.fetchedProperties.indices {
            propertyName = entity.fetchedProperties[position].name
            entity.fetchedProperties[position] = reduced(entity.fetchedProperties[position])
        }
        propertyName = nil
        reduceIndexes(&entity, of: original)
        return entity
    }

    /// Every index is written as an explicit one; the flags and compounds from before fetch indexes say less.
    private mutating func reduceIndexes(_ entity: inout Entity, of original: Entity) {
        let explicit = original.fetchIndexes.compactMap { reduced($0) }
        for position in entity.attributes.indices { entity.attributes[position].isIndexed = false }
        CompiledIndexes.complete(&entity, explicit: explicit, compounds: [])
        let added = entity.fetchIndexes.filter { !explicit.contains($0) }.map(\.name)
        if !added.isEmpty {
            leaveOut(
                "that it has no fetch index \(added.joined(separator: ", ")): Xcode's compiler adds one to each attribute "
                    + "that another index consists of")
        }
        for (old, new) in zip(
            original.attributes.sorted { ManagedObjectModel.compareOrder($0.name, $1.name) },
            entity.attributes) where old.isIndexed && !new.isIndexed
        {
            propertyName = new.name
            leaveOut("the mark “indexed” without a fetch index")
            propertyName = nil
        }
        let names = Set(explicit.map { $0.elements.map(Self.label) })
        for compound in original.compoundIndexes where !names.contains(compound) {
            leaveOut("the compound index (\(compound.joined(separator: ", "))) without a fetch index")
        }
    }

    private static func label(_ element: FetchIndex.Element) -> String {
        switch element.indexed {
        case .property(let name): name
        case .expression(_, let expression): expression == .evaluatedObject ? "self" : expression.predicateFormat
        }
    }

    /// nil, with a sentence, if the source has no form for the index.
    private mutating func reduced(_ original: FetchIndex) -> FetchIndex? {
        var index = original
        guard !index.name.isEmpty, XMLWriter.canWrite(index.name) else {
            leaveOut("a fetch index whose name can't be written")
            return nil
        }
        for position in index.elements.indices {
            switch index.elements[position].indexed {
            case .property(let name):
                guard !name.isEmpty, XMLWriter.canWrite(name) else {
                    leaveOut("the fetch index “\(index.name)”: a property's name can't be written")
                    return nil
                }
            case .expression(_, let expression):
                guard expression == .evaluatedObject || expression == .key("entity") else {
                    leaveOut(
                        "the fetch index “\(index.name)”: its expression “\(expression.predicateFormat)” is neither "
                            + "`self` nor `entity`")
                    return nil
                }
                expressionCount += 1
                index.elements[position].indexed = .expression(name: "expression\(expressionCount)", expression)
            }
        }
        if let predicate = index.partialPredicate {
            index.partialPredicate = reduced(predicate, "the predicate of the fetch index “\(index.name)”")
        }
        return index
    }

    // MARK: - Relationships and fetched properties

    private mutating func reduced(_ original: Relationship) -> Relationship {
        var relationship = original
        requireWritable(relationship.name, "the relationship's name")
        relationship.renamingIdentifier = renaming(relationship.renamingIdentifier, of: relationship.name)
        relationship.versionHashModifier = modifier(relationship.versionHashModifier)
        relationship.userInfo = reduced(relationship.userInfo)
        return relationship
    }

    private mutating func reduced(_ original: FetchedProperty) -> FetchedProperty {
        var property = original
        requireWritable(property.name, "the fetched property's name")
        property.renamingIdentifier = renaming(property.renamingIdentifier, of: property.name)
        property.userInfo = reduced(property.userInfo)
        property.fetchEntity = writable(property.fetchEntity, "the entity of its request")
        if let predicate = property.predicate { property.predicate = reduced(predicate, "its predicate") }
        return property
    }

    // MARK: - Common

    /// The predicate that its text gives; nil, with a sentence, if none gives the same one.
    private mutating func reduced(_ predicate: Predicate, _ role: String) -> Predicate? {
        let text = predicate.formatString
        // By its text: an archive may hold compounds of one term, and constants where a text has lists.
        if XMLWriter.canWrite(text), let read = try? Predicate(parsing: text), read.formatString == text { return read }
        leaveOut("\(role) “\(predicate.predicateFormat)”, which no text expresses")
        return nil
    }

    mutating func reduced(_ userInfo: [String: Constant]) -> [String: Constant] {
        var kept: [String: Constant] = [:]
        for (key, value) in userInfo.sorted(by: { ManagedObjectModel.compareOrder($0.key, $1.key) }) {
            if case .string(let text) = value, XMLWriter.canWrite(text), XMLWriter.canWrite(key) {
                kept[key] = value
            } else {
                leaveOut("the entry “\(key)” of its user info, which isn't a text")
            }
        }
        return kept
    }

    /// nil where it says nothing.
    mutating func renaming(_ identifier: String?, of name: String) -> String? {
        guard let identifier, !identifier.isEmpty, identifier != name else { return nil }
        return writable(identifier, "the renaming identifier")
    }

    mutating func modifier(_ modifier: String?) -> String? {
        guard let modifier, !modifier.isEmpty else { return nil }
        requireWritable(modifier, "the version hash modifier")
        return modifier
    }

    /// The text; nil, with a sentence, if XML has no form for it.
    mutating func writable(_ text: String?, _ role: String) -> String? {
        guard let text, !text.isEmpty else { return nil }
        if XMLWriter.canWrite(text) { return text }
        leaveOut("\(role), which XML can't hold")
        return nil
    }

    mutating func requireWritable(_ text: String, _ role: String) {
        if text.isEmpty || !XMLWriter.canWrite(text) { refuse("\(role) is empty, too long or no text of XML") }
    }

    mutating func leaveOut(_ message: String) {
        leftOut.append(.init(message, entity: entityName, property: propertyName))
    }

    mutating func refuse(_ message: String) {
        refusals.append(.init(message, entity: entityName, property: propertyName))
    }

    /// The name that stands for a composite type of these elements; equal elements share one. The type's own name is in
    /// no compiled model.
    mutating func composite(_ elements: [Attribute], usedAs attribute: String) {
        guard !composites.contains(where: { $0.elements == elements }) else { return }
        let base = attribute.prefix(1).uppercased() + attribute.dropFirst()
        var name = base
        var number = 2
        while composites.contains(where: { $0.name == name }) {
            name = "\(base)\(number)"
            number += 1
        }
        composites.append((name, elements))
    }

    /// The made-up name of the composite type with these elements.
    func compositeName(_ elements: [Attribute]) -> String? { composites.first { $0.elements == elements }?.name }
}
