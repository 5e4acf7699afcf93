import CausewayExpressions
import CausewayXML

/// Writes a model as Xcode's source, the XML of `X.xcdatamodel/contents`: what `SourceModelReader` reads.
///
/// Elements and attributes stand in Xcode's order, entities and properties by name; the bytes depend on the model
/// alone. What no compiled model holds is absent, as in a source of Xcode that never had it: scalar accessors, code
/// generation, the diagram, fetch request templates.
package struct SourceModelWriter {
    typealias Element = XMLWriter.Element

    private let form: SourceForm

    /// A model's source.
    package struct Source: Hashable, Sendable {
        /// The content of `contents`.
        package let bytes: [UInt8]
        /// What the source can't say, by entity and property; no version hash depends on it.
        package let leftOut: [ModelError.Problem]
    }

    /// The source of a model, proven by reading it back: the same entities, hashes and configurations.
    ///
    /// Throws `unsupportedFormat` with every part that version hashes depend on and that the source can't say,
    /// `inconsistent` for a model with dangling names, `limitExceeded` past the reader's bounds.
    package static func source(of model: ManagedObjectModel) throws(ModelError) -> Source {
        let problems = ModelConsistency.problems(of: model)
        guard problems.isEmpty else {
            throw ModelError(.inconsistent, "The model contradicts itself and can't be written.", problems: problems)
        }
        let form = SourceForm(model)
        guard form.refusals.isEmpty else {
            throw ModelError(
                .unsupportedFormat, "Xcode's source has no form for a part of the model; use the compiled model.",
                problems: form.refusals)
        }
        let bytes: [UInt8]
        do throws(XMLError) {
            bytes = try XMLWriter.document(SourceModelWriter(form: form).root())
        } catch {
            throw ModelError(
                error.code == .limitExceeded ? .limitExceeded : .unsupportedFormat,
                "The model can't be written as Xcode's source: \(error).")
        }
        try check(bytes, form.model, VersionHashes(model))
        return Source(bytes: bytes, leftOut: form.leftOut)
    }

    /// What was written must mean the model, whatever this file does wrong.
    private static func check(
        _ bytes: [UInt8], _ model: ManagedObjectModel, _ hashes: VersionHashes
    ) throws(ModelError) {
        let read = try SourceModelReader.read(bytes)
        var problems = hashes.differences(from: VersionHashes(read).entities).map {
            ModelError.Problem("The version hash differs.", entity: $0)
        }
        for name in model.entities.keys.sorted(by: ManagedObjectModel.compareOrder)
        where model.entities[name] != read.entities[name] {
            problems.append(.init("The entity differs.", entity: name))
        }
        if model.configurations != read.configurations { problems.append(.init("The configurations differ.")) }
        if model.versionIdentifiers != read.versionIdentifiers { problems.append(.init("The identifier differs.")) }
        guard problems.isEmpty else {
            throw ModelError(
                .inconsistent, "The written source would be another model; please report this with the model.",
                problems: problems)
        }
    }

    // MARK: - Model

    private func root() -> Element {
        // Xcode rewrites its own versions at the first save. These are of Xcode 15.3, which reads and writes all that
        // is written here.
        var root = Element(
            "model",
            [
                "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
                "lastSavedToolsVersion": "22758", "systemVersion": "23G93", "minimumToolsVersion": "Automatic",
                "sourceLanguage": "Swift",
                "userDefinedModelVersionIdentifier": form.model.versionIdentifiers.first ?? "",
            ])
        for name in form.model.entities.keys.sorted(by: ManagedObjectModel.compareOrder) {
            if let entity = form.model.entities[name] { root.children.append(element(entity)) }
        }
        for composite in form.composites {
            root.children.append(
                Element("composite", ["name": composite.name], children: composite.elements.map { element($0) }))
        }
        let configurations = form.model.configurations.sorted { ManagedObjectModel.compareOrder($0.key, $1.key) }
        for (name, members) in configurations {
            root.children.append(
                Element(
                    "configuration", ["name": name], children: members.map { Element("memberEntity", ["name": $0]) }))
        }
        return root
    }

    private func element(_ entity: Entity) -> Element {
        var element = Element("entity", ["name": entity.name])
        element.set("representedClassName", entity.managedObjectClassName)
        element.set("isAbstract", yes(entity.isAbstract))
        element.set("parentEntity", entity.parent)
        element.set("elementID", entity.renamingIdentifier)
        element.set("versionHashModifier", entity.versionHashModifier)
        element.set("syncable", "YES")
        element.children += entity.attributes.map { self.element($0) }
        element.children += entity.relationships.map { self.element($0) }
        element.children += entity.fetchedProperties.map { self.element($0) }
        element.children += entity.fetchIndexes.map { self.element($0) }
        if !entity.uniquenessConstraints.isEmpty {
            let constraints = entity.uniquenessConstraints.map { names in
                Element("uniquenessConstraint", children: names.map { Element("constraint", ["value": $0]) })
            }
            element.children.append(Element("uniquenessConstraints", children: constraints))
        }
        element.children += userInfo(entity.userInfo)
        return element
    }

    // MARK: - Properties

    private func element(_ attribute: Attribute) -> Element {
        var element = Element("attribute", ["name": attribute.name])
        element.set("optional", yes(attribute.isOptional))
        element.set("transient", yes(attribute.isTransient))
        element.set("attributeType", attribute.type.sourceName)
        for rule in ValidationRule.all(of: attribute.type) {
            element.set(rule.key, attribute.validations.lazy.compactMap { rule.text($0) }.first)
        }
        element.set("valueTransformerName", attribute.valueTransformerName)
        if attribute.type.valueClassName == nil { element.set("customClassName", attribute.valueClassName) }
        if attribute.type == .composite { element.set("composite", form.compositeName(attribute.elements)) }
        let isDate = attribute.type == .date
        element.set(
            isDate ? "defaultDateTimeInterval" : "defaultValueString",
            attribute.defaultValue.flatMap { SourceValue.text($0, as: attribute.type) })
        element.set("derived", yes(attribute.derivation != nil))
        element.set("derivationExpression", attribute.derivation.flatMap { SourceForm.text($0.expression) })
        element.set("allowsCloudEncryption", yes(attribute.allowsCloudEncryption))
        element.set("spotlightIndexingEnabled", yes(attribute.isIndexedBySpotlight))
        element.set("allowsExternalBinaryDataStorage", yes(attribute.allowsExternalBinaryDataStorage))
        element.set("preserveAfterDeletion", yes(attribute.preservesValueInHistoryOnDeletion))
        element.set("elementID", attribute.renamingIdentifier)
        element.set("versionHashModifier", attribute.versionHashModifier)
        element.children += userInfo(attribute.userInfo)
        return element
    }

    private func element(_ relationship: Relationship) -> Element {
        var element = Element("relationship", ["name": relationship.name])
        element.set("optional", yes(relationship.isOptional))
        element.set("transient", yes(relationship.isTransient))
        element.set("toMany", yes(relationship.isToMany))
        element.set("minCount", relationship.minCount == 0 ? nil : String(relationship.minCount))
        element.set("maxCount", relationship.maxCount == 0 ? nil : String(relationship.maxCount))
        element.set("deletionRule", relationship.deleteRule.sourceName)
        element.set("ordered", yes(relationship.isOrdered))
        element.set("destinationEntity", relationship.destination)
        if let inverse = relationship.inverse {
            element.set("inverseName", inverse)
            element.set("inverseEntity", relationship.inverseEntity ?? relationship.destination)
        }
        element.set("spotlightIndexingEnabled", yes(relationship.isIndexedBySpotlight))
        element.set("elementID", relationship.renamingIdentifier)
        element.set("versionHashModifier", relationship.versionHashModifier)
        element.children += userInfo(relationship.userInfo)
        return element
    }

    private func element(_ property: FetchedProperty) -> Element {
        var element = Element("fetchedProperty", ["name": property.name])
        element.set("optional", yes(property.isOptional))
        element.set("elementID", property.renamingIdentifier)
        var request = Element("fetchRequest", ["name": "fetchedPropertyFetchRequest"])
        request.set("entity", property.fetchEntity)
        request.set("predicateString", property.predicate?.formatString)
        element.children = [request] + userInfo(property.userInfo)
        return element
    }

    private func element(_ index: FetchIndex) -> Element {
        var element = Element("fetchIndex", ["name": index.name])
        element.set("partialIndexPredicate", index.partialPredicate?.formatString)
        element.children = index.elements.map { indexed in
            var child = Element("fetchIndexElement")
            switch indexed.indexed {
            case .property(let name): child.set("property", name)
            case .expression(_, let expression):
                child.set("expression", expression == .evaluatedObject ? "self" : "entity")
            }
            child.set("type", indexed.kind == .rTree ? "RTree" : "Binary")
            child.set("order", indexed.isAscending ? "ascending" : "descending")
            return child
        }
        return element
    }

    // MARK: - Common

    /// Xcode leaves out what isn't set.
    private func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

    private func userInfo(_ entries: [String: Constant]) -> [Element] {
        guard !entries.isEmpty else { return [] }
        let children = entries.sorted { ManagedObjectModel.compareOrder($0.key, $1.key) }.compactMap { key, value in
            if case .string(let text) = value { Element("entry", ["key": key, "value": text]) } else { nil }
        }
        return [Element("userInfo", children: children)]
    }
}

extension Relationship.DeleteRule {
    /// The rule as Xcode's source names it.
    fileprivate var sourceName: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }
}
