import CausewayExpressions
import CausewayXML

/// Reads the XML that Xcode saves in `X.xcdatamodel/contents`, with the meaning that Xcode's compiler gives it.
///
/// Elements and attributes that don't concern stores or migrations (diagram positions, code generation, scalar
/// accessors) are ignored, and unknown ones too: newer versions of Xcode add some.
struct SourceModelReader {
    typealias Element = XMLTree.Element

    var problems: [ModelError.Problem] = []
    /// Lines of entities and properties, for the checks on the finished model.
    var lines: [ModelConsistency.Place: Int] = [:]
    /// `<composite>` elements by name.
    var composites: [String: Element] = [:]
    /// Composite elements expanded so far; see `ModelLimits.compositeElements`.
    var expandedElements = 0
    /// Names of expressions in fetch indexes count through the model.
    var expressionCount = 0
    /// The entity being read, for messages.
    var entityName: String?

    /// Throws `damaged` for bytes that aren't XML, `notAModel` for another document, `inconsistent` with every problem
    /// found.
    static func read(_ bytes: [UInt8]) throws(ModelError) -> ManagedObjectModel {
        let tree: XMLTree
        do {
            tree = try XMLTree(parsing: bytes)
        } catch {
            throw ModelError(.damaged, "The model's source can't be read: \(error).")
        }
        guard tree.root.name == "model" else {
            throw ModelError(
                .notAModel, "The XML isn't a data model: its root element is <\(tree.root.name)> instead of <model>.")
        }
        return try read(tree.root)
    }

    /// The model of a `<model>` element. Throws `inconsistent` with every problem found.
    static func read(_ root: XMLTree.Element) throws(ModelError) -> ManagedObjectModel {
        var reader = SourceModelReader()
        let model = reader.model(root)
        guard reader.problems.isEmpty else {
            throw ModelError(
                .inconsistent, "The model contradicts itself; correct it in Xcode's model editor.",
                problems: reader.problems)
        }
        return model
    }

    private mutating func model(_ root: Element) -> ManagedObjectModel {
        for composite in root.children(named: "composite") {
            guard let name = composite["name"], composites[name] == nil else {
                report("A composite type has no name, or that of another one.", composite)
                continue
            }
            composites[name] = composite
        }
        var entities: [Entity] = []
        for element in root.children(named: "entity") {
            guard let name = nonEmpty(element["name"]) else {
                report("An entity has no name.", element)
                continue
            }
            entityName = name
            defer { entityName = nil }
            guard lines[.init(entity: name)] == nil else {
                report("There are two entities of this name.", element)
                continue
            }
            lines[.init(entity: name)] = element.line
            entities.append(entity(element, named: name))
            var explicit: [FetchIndex] = []
            for child in element.children(named: "fetchIndex") {
                if let index = fetchIndex(child) { explicit.append(index) }
            }
            CompiledIndexes.complete(
                &entities[entities.count - 1], explicit: explicit,
                compounds: names(in: element, "compoundIndexes", "compoundIndex", "index"))
        }
        var model = ManagedObjectModel(
            entities: entities, configurations: configurations(root),
            versionIdentifiers: [root["userDefinedModelVersionIdentifier"] ?? ""])
        model.forgetUnknownMembers()
        problems += ModelConsistency.problems(of: model, lines: lines)
        guard problems.isEmpty else { return model }
        for (name, entity) in model.entities {
            let compounds = CompiledIndexes.compounds(of: entity, in: model)
            model.entities[name]?.compoundIndexes = compounds
        }
        model.canonicaliseInverses()
        return model
    }

    private mutating func configurations(_ root: Element) -> [String: [String]] {
        var configurations: [String: [String]] = [:]
        for element in root.children(named: "configuration") {
            guard let name = element["name"], configurations[name] == nil else {
                report("A configuration has no name, or that of another one.", element)
                continue
            }
            configurations[name] = element.children(named: "memberEntity").compactMap { $0["name"] }
                .sorted(by: ManagedObjectModel.compareOrder)
        }
        return configurations
    }

    private mutating func entity(_ element: Element, named name: String) -> Entity {
        var entity = Entity(name: name)
        entity.managedObjectClassName = nonEmpty(element["representedClassName"])
        entity.isAbstract = isYes(element["isAbstract"])
        entity.parent = nonEmpty(element["parentEntity"])
        entity.renamingIdentifier = renaming(element, name)
        entity.versionHashModifier = nonEmpty(element["versionHashModifier"])
        entity.userInfo = userInfo(element)
        for child in element.children {
            guard ["attribute", "relationship", "fetchedProperty"].contains(child.name) else { continue }
            guard let property = nonEmpty(child["name"]) else {
                report("A property has no name.", child)
                continue
            }
            lines[.init(entity: name, property: property)] = child.line
            switch child.name {
            case "attribute":
                if let attribute = attribute(child, named: property, depth: 0) { entity.attributes.append(attribute) }
            case "relationship": entity.relationships.append(relationship(child, named: property))
            default: entity.fetchedProperties.append(fetchedProperty(child, named: property))
            }
        }
        entity.sortProperties()
        entity.uniquenessConstraints = names(in: element, "uniquenessConstraints", "uniquenessConstraint", "constraint")
        return entity
    }

    // MARK: - Common to several elements

    mutating func report(_ message: String, _ element: Element, property: String? = nil) {
        problems.append(.init(message, entity: entityName, property: property, line: element.line))
    }

    func isYes(_ text: String?) -> Bool { text == "YES" }

    func nonEmpty(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    func renaming(_ element: Element, _ name: String) -> String? {
        nonEmpty(element["elementID"]).flatMap { $0 == name ? nil : $0 }
    }

    func userInfo(_ element: Element) -> [String: Constant] {
        var entries: [String: Constant] = [:]
        for entry in element.child(named: "userInfo")?.children(named: "entry") ?? [] {
            if let key = entry["key"] { entries[key] = .string(entry["value"] ?? "") }
        }
        return entries
    }

    /// `<outer><middle><inner value="a"/><inner value="b"/></middle>…</outer>`
    private func names(in element: Element, _ outer: String, _ middle: String, _ inner: String) -> [[String]] {
        element.children(named: outer).flatMap { $0.children(named: middle) }
            .map { $0.children(named: inner).compactMap { $0["value"] } }
            .filter { !$0.isEmpty }
    }
}
