import CausewayExpressions
import CausewayPlist

/// Reads the keyed archive of an `NSManagedObjectModel`: a `.mom` file, or an inflated model cache
/// (InsideStoreFormat §8). An archive of the model editor's objects is passed on.
///
/// Nothing is instantiated; references between entities are followed to names only, so cycles do no harm.
struct ArchivedModelReader {
    typealias Reference = KeyedArchive.Reference

    let archive: KeyedArchive
    var problems: [ModelError.Problem] = []
    /// Composite elements read so far; see `ModelLimits.compositeElements`.
    var expandedElements = 0
    /// The entity and property being read, for messages.
    var entityName: String?
    var propertyName: String?

    /// An entity of the archive before its properties are read.
    private struct Stub {
        let reference: Reference
        let name: String
        let parent: String?
        /// All of NSProperties: archives repeat inherited ones, as copies or as `_NSPropertyDescriptionProxy`.
        let properties: [(key: String, value: ArchivedValue)]
    }

    private init(_ archive: KeyedArchive) {
        self.archive = archive
    }

    /// Throws `damaged` if the bytes aren't an archive, `notAModel` for an archive of something else, `inconsistent`
    /// with every problem found.
    static func read(_ bytes: [UInt8]) throws(ModelError) -> ManagedObjectModel {
        let archive: KeyedArchive
        do throws(PropertyListError) {
            archive = try KeyedArchive(parsing: bytes)
        } catch {
            throw ModelError(.damaged, "The compiled model can't be read: \(error).")
        }
        if archive.className(of: archive.root) == EditorModelReader.rootClass {
            return try EditorModelReader.read(archive)
        }
        var reader = ArchivedModelReader(archive)
        let model: ManagedObjectModel
        try reader.checkRoot()
        do throws(PropertyListError) {
            model = try reader.model()
        } catch {
            let place = [reader.entityName, reader.propertyName].compactMap { $0 }.joined(separator: ".")
            throw ModelError(
                .damaged, "The compiled model can't be read\(place.isEmpty ? "" : ", at \(place)"): \(error).")
        }
        guard reader.problems.isEmpty else {
            throw ModelError(
                .inconsistent, "The compiled model contradicts itself; compile it again from its source.",
                problems: reader.problems)
        }
        return model
    }

    private func checkRoot() throws(ModelError) {
        let kind = archive.archivedClass(of: archive.root)
        if kind?.isKind(of: "NSManagedObjectModel") == true { return }
        if kind?.isKind(of: "NSMappingModel") == true {
            throw ModelError(
                .notAModel, "This is a compiled mapping model (.cdm); give it as a mapping model, not as a model.")
        }
        throw ModelError(.notAModel, "The archive holds \(kind?.name ?? "a plain value"), not a data model.")
    }

    // MARK: - Model

    private mutating func model() throws(PropertyListError) -> ManagedObjectModel {
        let stubs = try stubs()
        let byName = Dictionary(stubs.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if byName.count < stubs.count { problems.append(.init("Two entities have the same name.")) }
        // Before the hierarchies are walked; the check of the finished model reports it.
        let isTooLarge =
            byName.count > ModelLimits.entities || ModelConsistency.deepest(byName.mapValues(\.parent)) != nil
        var entities: [Entity] = []
        for stub in byName.values where isTooLarge {
            var entity = Entity(name: stub.name)
            entity.parent = stub.parent
            entities.append(entity)
        }
        for stub in stubs where !isTooLarge {
            entityName = stub.name
            entities.append(try entity(stub, inherited: inherited(stub, byName)))
            entityName = nil
        }
        var model = ManagedObjectModel(
            entities: entities, configurations: try configurations(), versionIdentifiers: try versionIdentifiers())
        model.forgetUnknownMembers()
        problems += ModelConsistency.problems(of: model)
        if problems.isEmpty { model.canonicaliseInverses() }
        return model
    }

    private func stubs() throws(PropertyListError) -> [Stub] {
        var stubs: [Stub] = []
        for (key, value) in try archive.dictionary(archive.field("NSEntities", of: archive.root)) ?? [] {
            guard let reference = value.reference else {
                throw PropertyListError(.typeMismatch, "The entity “\(key)” isn't an object.")
            }
            stubs.append(
                Stub(
                    reference: reference, name: try string("NSEntityName", of: reference) ?? key,
                    parent: try entityName("NSSuperentity", of: reference),
                    properties: try archive.dictionary(archive.field("NSProperties", of: reference)) ?? []))
        }
        return stubs
    }

    /// Names of the properties that any ancestor has.
    private func inherited(_ stub: Stub, _ stubs: [String: Stub]) -> Set<String> {
        var names: Set<String> = []
        var seen: Set<String> = [stub.name]
        var next = stub.parent
        while let name = next, seen.insert(name).inserted, let ancestor = stubs[name] {
            names.formUnion(ancestor.properties.lazy.map(\.key))
            next = ancestor.parent
        }
        return names
    }

    private mutating func entity(_ stub: Stub, inherited: Set<String>) throws(PropertyListError) -> Entity {
        let reference = stub.reference
        var entity = Entity(name: stub.name)
        entity.managedObjectClassName = try nonEmptyString("NSClassNameForEntity", of: reference)
        entity.isAbstract = try flag("NSIsAbstract", of: reference)
        entity.parent = stub.parent
        entity.renamingIdentifier = try renaming(reference, stub.name)
        entity.versionHashModifier = try nonEmptyString("NSVersionHashModifier", of: reference)
        entity.userInfo = try userInfo(of: reference)
        for (name, value) in stub.properties where !inherited.contains(name) {
            propertyName = name
            try add(value, named: name, to: &entity)
            propertyName = nil
        }
        entity.sortProperties()
        entity.uniquenessConstraints = try propertyLists("NSUniqueTuples", of: reference)
        entity.compoundIndexes = try propertyLists("NSCompoundIndexes", of: reference)
        if let value = try archive.field("NSFetchIndexDescriptions", of: reference), !value.isNull {
            entity.fetchIndexes = try fetchIndexes(value)
        } else {
            // An archive from before fetch indexes: its flags and compounds mean the same.
            CompiledIndexes.complete(&entity, explicit: [], compounds: entity.compoundIndexes)
        }
        return entity
    }

    /// Entity names, sorted: sets have no order.
    private func configurations() throws(PropertyListError) -> [String: [String]] {
        var configurations: [String: [String]] = [:]
        for (name, value) in try archive.dictionary(archive.field("NSConfigurations", of: archive.root)) ?? [] {
            var members: [String] = []
            for member in try archive.array(value) ?? [] {
                guard let reference = member.reference, let name = try string("NSEntityName", of: reference) else {
                    throw PropertyListError(
                        .typeMismatch, "The configuration “\(name)” has a member that isn't an entity.")
                }
                members.append(name)
            }
            configurations[name] = members.sorted(by: ManagedObjectModel.compareOrder)
        }
        return configurations
    }

    private func versionIdentifiers() throws(PropertyListError) -> [String] {
        var identifiers: [String] = []
        for value in try archive.array(archive.field("NSVersionIdentifiers", of: archive.root)) ?? [] {
            // An identifier may be any object in code; only strings come from Xcode.
            switch value {
            case .string(let text): identifiers.append(text)
            case .object(let reference) where archive.archivedClass(of: reference)?.isKind(of: "NSString") == true:
                if let text = try archive.string(value) { identifiers.append(text) }
            default: continue
            }
        }
        return identifiers.sorted(by: ManagedObjectModel.compareOrder)
    }

    // MARK: - Fields

    func string(_ name: String, of reference: Reference) throws(PropertyListError) -> String? {
        try archive.string(archive.field(name, of: reference))
    }

    func nonEmptyString(_ name: String, of reference: Reference) throws(PropertyListError) -> String? {
        try string(name, of: reference).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// An absent flag is NO.
    func flag(_ name: String, of reference: Reference) throws(PropertyListError) -> Bool {
        try archive.boolean(archive.field(name, of: reference)) ?? false
    }

    func renaming(_ reference: Reference, _ name: String) throws(PropertyListError) -> String? {
        try nonEmptyString("NSRenamingIdentifier", of: reference).flatMap { $0 == name ? nil : $0 }
    }

    /// The name of the entity that a field refers to.
    func entityName(_ field: String, of reference: Reference) throws(PropertyListError) -> String? {
        guard let entity = try archive.field(field, of: reference)?.reference else { return nil }
        return try string("NSEntityName", of: entity)
    }

    mutating func userInfo(of reference: Reference) throws(PropertyListError) -> [String: Constant] {
        var entries: [String: Constant] = [:]
        guard let value = try archive.field("NSUserInfo", of: reference), !value.isNull else { return [:] }
        for pair in try archive.pairs(value) ?? [] {
            // Code may use any object as a key; only strings come from Xcode, and only they mean anything to Core Data.
            guard case .string(let key) = pair.key else { continue }
            entries[key] = constant(pair.value, "user info")
        }
        return entries
    }

    /// nil, with a problem noted, where the value is damaged.
    mutating func constant(_ value: ArchivedValue, _ role: String) -> Constant? {
        do {
            return try Constant(archive: archive, value: value)
        } catch {
            report("The \(role) can't be read: \(error).")
            return nil
        }
    }

    /// Lists of property names, each a string or the property itself (NSUniqueTuples, NSCompoundIndexes).
    private func propertyLists(_ field: String, of reference: Reference) throws(PropertyListError) -> [[String]] {
        var lists: [[String]] = []
        for list in try archive.array(archive.field(field, of: reference)) ?? [] {
            var names: [String] = []
            for item in try archive.array(list) ?? [] {
                if case .object(let property) = item,
                    archive.archivedClass(of: property)?.isKind(of: "NSString") != true
                {
                    guard let name = try string("NSPropertyName", of: property) else {
                        throw PropertyListError(
                            .typeMismatch, "A property in “\(field)” has no name.", at: archive.place(of: property))
                    }
                    names.append(name)
                } else if let name = try archive.string(item) {
                    names.append(name)
                }
            }
            if !names.isEmpty { lists.append(names) }
        }
        return lists
    }

    mutating func report(_ message: String) {
        problems.append(.init(message, entity: entityName, property: propertyName))
    }
}
