import CausewayDeflate
import CausewayExpressions
import CausewayPlist

/// Writes a model as Core Data caches it in a store: a keyed archive in raw DEFLATE (InsideStoreFormat §8).
///
/// Keys, classes and the sharing of objects follow real caches (framework 1344 and newer): subentities repeat the
/// inherited properties as copies that belong to them, entities refer to each other in cycles. The bytes depend on the
/// model alone. What the model doesn't hold is written as Core Data writes a missing value: fetch request templates,
/// sort descriptors of fetched properties, default values and user info of the app's own classes, dates that are texts.
package struct ModelCacheWriter {
    typealias Reference = KeyedArchiveWriter.Reference
    typealias Field = (name: String, value: KeyedArchiveWriter.Field)

    /// An entity's property, declared there or inherited.
    struct PropertyKey: Hashable {
        let entity: String
        let property: String
    }

    let model: ManagedObjectModel
    var writer = KeyedArchiveWriter()
    var root = Reference.null
    /// Reserved before anything is filled: any object may refer to any of them.
    var entities: [String: Reference] = [:]
    var properties: [PropertyKey: Reference] = [:]
    var emptyUserInfo = Reference.null
    /// Expressions, predicates and default values by declaring entity: copies for subentities share them.
    var shared: [PropertyKey: [Field]] = [:]

    private init(_ model: ManagedObjectModel) {
        self.model = model
    }

    /// The content of `Z_MODELCACHE.Z_CONTENT`.
    ///
    /// Throws `inconsistent` for a model with dangling names, `unsupportedFormat` for an expression that can't be
    /// archived, `limitExceeded` past `ModelLimits.fileSize`.
    package static func cache(of model: ManagedObjectModel) throws(ModelError) -> [UInt8] {
        do {
            return try RawDeflate.deflate(try archive(of: model))
        } catch let error as ModelError {
            throw error
        } catch {
            throw ModelError(.unsupportedFormat, "The model can't be compressed: \(error).")
        }
    }

    /// The archive inside the cache; the same in kind as a `.mom` file.
    package static func archive(of model: ManagedObjectModel) throws(ModelError) -> [UInt8] {
        let problems = ModelConsistency.problems(of: model)
        guard problems.isEmpty else {
            throw ModelError(.inconsistent, "The model contradicts itself and can't be cached.", problems: problems)
        }
        var writer = ModelCacheWriter(model)
        do throws(ExpressionArchiveError) {
            try writer.write()
        } catch {
            throw ModelError(.unsupportedFormat, "A part of the model can't be archived: \(error).")
        }
        do {
            return try writer.writer.bytes(root: writer.root)
        } catch {
            throw ModelError(
                error.code == .limitExceeded ? .limitExceeded : .unsupportedFormat,
                "The model can't be archived: \(error).")
        }
    }

    // MARK: - Model

    private mutating func write() throws(ExpressionArchiveError) {
        let names = model.entities.keys.sorted(by: ManagedObjectModel.compareOrder)
        root = writer.reserve()
        emptyUserInfo = writer.dictionary([])
        for name in names {
            entities[name] = writer.reserve()
            for ancestor in model.lineage(of: name) {
                for property in ancestor.propertyNames {
                    properties[PropertyKey(entity: name, property: property)] = writer.reserve()
                }
            }
        }
        for name in names {
            if let entity = model.entities[name] { try write(entity) }
        }
        let dictionary = writer.knownKeysDictionary(names.map { ($0, entities[$0] ?? .null) })
        let identifiers = writer.set(model.versionIdentifiers.map { writer.string($0) })
        var fields: [Field] = [
            ("NSEntities", .reference(dictionary)), ("NSFetchRequestTemplates", .null),
            ("NSVersionIdentifiers", .reference(identifiers)),
        ]
        if !model.configurations.isEmpty { fields.append(("NSConfigurations", .reference(configurations()))) }
        writer.fill(root, ArchivedClass(["NSManagedObjectModel", "NSObject"]), fields)
    }

    private mutating func configurations() -> Reference {
        var entries: [(key: Reference, value: Reference)] = []
        for (name, members) in model.configurations.sorted(by: { ManagedObjectModel.compareOrder($0.key, $1.key) }) {
            entries.append((writer.string(name), writer.set(members.map { entities[$0] ?? .null })))
        }
        return writer.mutableDictionary(entries)
    }

    // MARK: - Entities

    private mutating func write(_ entity: Entity) throws(ExpressionArchiveError) {
        guard let reference = entities[entity.name] else { return }
        var propertyEntries: [(name: String, value: Reference)] = []
        // From the root down: shared parts are written where they're declared first.
        for declaring in model.lineage(of: entity.name).reversed() {
            for attribute in declaring.attributes {
                propertyEntries.append((attribute.name, try write(attribute, of: entity, declaredBy: declaring)))
            }
            for relationship in declaring.relationships {
                propertyEntries.append((relationship.name, try write(relationship, of: entity)))
            }
            for property in declaring.fetchedProperties {
                propertyEntries.append((property.name, try write(property, of: entity)))
            }
        }
        propertyEntries.sort { ManagedObjectModel.compareOrder($0.name, $1.name) }
        var fields: [Field] = [
            ("NSEntityName", .reference(writer.string(entity.name))),
            ("NSClassNameForEntity", text(entity.managedObjectClassName)),
            ("NSManagedObjectModel", .reference(root)),
            ("NSProperties", .reference(dictionary(propertyEntries))),
            (
                "NSSubentities",
                .reference(
                    dictionary(
                        model.subentities(of: entity.name).sorted(by: ManagedObjectModel.compareOrder)
                            .map { ($0, entities[$0] ?? .null) }))
            ),
            ("NSSuperentity", .reference(entity.parent.flatMap { entities[$0] } ?? .null)),
            ("NSUserInfo", .reference(try userInfo(entity.userInfo))),
            ("NSVersionHashModifier", text(entity.versionHashModifier)),
            ("NSRenamingIdentifier", text(entity.renamingIdentifier ?? entity.name)),
        ]
        if entity.isAbstract { fields.append(("NSIsAbstract", .boolean(true))) }
        if !entity.uniquenessConstraints.isEmpty {
            fields.append(("NSUniqueTuples", .reference(nameLists(entity.uniquenessConstraints))))
        }
        // Both or neither: a reader derives missing fetch indexes from the older forms.
        if !entity.fetchIndexes.isEmpty || !entity.compoundIndexes.isEmpty
            || entity.attributes.contains(where: \.isIndexed)
        {
            fields.append(("NSFetchIndexDescriptions", .reference(try fetchIndexes(of: entity, reference))))
            fields.append(("NSCompoundIndexes", .reference(nameLists(entity.compoundIndexes))))
        }
        writer.fill(reference, ArchivedClass(["NSEntityDescription", "NSObject"]), fields)
    }

    private mutating func fetchIndexes(
        of entity: Entity, _ owner: Reference
    ) throws(ExpressionArchiveError) -> Reference {
        var indexes: [Reference] = []
        for index in entity.fetchIndexes {
            let reference = writer.reserve()
            var elements: [Reference] = []
            for element in index.elements { elements.append(try write(element, of: reference)) }
            let list = writer.mutableArray(elements)
            let partial = try index.partialPredicate.map { (predicate) throws(ExpressionArchiveError) in
                try predicate.archive(into: &writer)
            }
            writer.fill(
                reference, ArchivedClass(["NSFetchIndexDescription", "NSObject"]),
                [
                    ("NSIndexName", .reference(writer.string(index.name))), ("NSIndexElements", .reference(list)),
                    ("NSPartialIndexPredicate", .reference(partial ?? .null)), ("NSEntity", .reference(owner)),
                ])
            indexes.append(reference)
        }
        return writer.mutableArray(indexes)
    }

    private mutating func write(
        _ element: FetchIndex.Element, of index: Reference
    ) throws(ExpressionArchiveError) -> Reference {
        var fields: [Field] = [
            ("NSFetchIndexDescription", .reference(index)),
            ("NSFetchIndexElementType", .integer(Int64(element.kind.rawValue))),
            ("NSAscending", .boolean(element.isAscending)),
        ]
        switch element.indexed {
        case .property(let name): fields.append(("NSPropertyName", .reference(writer.string(name))))
        case .expression(let name, let expression):
            let label = writer.string(name)
            let archived = try expression.archive(into: &writer)
            // `self` gives an object identifier; for `entity` real archives have no type.
            let type = expression == .evaluatedObject ? AttributeType.objectID : .undefined
            let property = writer.add(
                ArchivedClass(["NSExpressionDescription", "NSPropertyDescription", "NSObject"]),
                [
                    ("_P", .integer(PropertyBits.plain | PropertyBits.optional | PropertyBits.readOnly)),
                    ("NSIsOptional", .boolean(true)), ("NSIsReadOnly", .boolean(true)), ("NSEntity", .null),
                    ("NSExpressionType", .integer(Int64(type.rawValue))), ("NSExpression", .reference(archived)),
                    ("NSPropertyName", .reference(label)), ("NSRenamingIdentifier", .reference(label)),
                ])
            fields += [("NSPropertyName", .reference(label)), ("NSIndexedProperty", .reference(property))]
        }
        return writer.add(ArchivedClass(["NSFetchIndexElementDescription", "NSObject"]), fields)
    }

    // MARK: - Common

    mutating func text(_ value: String?) -> KeyedArchiveWriter.Field {
        value.map { .reference(writer.string($0)) } ?? .null
    }

    mutating func dictionary(_ entries: [(name: String, value: Reference)]) -> Reference {
        writer.mutableDictionary(entries.map { (writer.string($0.name), $0.value) })
    }

    private mutating func nameLists(_ lists: [[String]]) -> Reference {
        writer.mutableArray(lists.map { list in writer.mutableArray(list.map { writer.string($0) }) })
    }

    mutating func userInfo(_ entries: [String: Constant]) throws(ExpressionArchiveError) -> Reference {
        var pairs: [(key: Reference, value: Reference)] = []
        for (key, value) in entries.sorted(by: { ManagedObjectModel.compareOrder($0.key, $1.key) }) {
            if value.containsForeign { continue }
            pairs.append((writer.string(key), try value.archive(into: &writer)))
        }
        return pairs.isEmpty ? emptyUserInfo : writer.dictionary(pairs)
    }
}

extension Constant {
    /// Whether it holds an object of the app's own class, whose contents aren't known.
    var containsForeign: Bool {
        switch self {
        case .foreign: true
        case .array(let items): items.contains(where: \.containsForeign)
        case .dictionary(let entries): entries.contains { $0.value.containsForeign }
        default: false
        }
    }
}
