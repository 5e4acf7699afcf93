import CausewayExpressions
import CausewayPlist
import CausewayXML

/// Reads the model editor's own objects: the keyed archive `elements` that an `.xcdatamodel` had before Xcode 4.
///
/// What they say is put into the elements of the XML that newer editors save, so that one reader knows what Xcode's
/// compiler makes of a source. Mapping models carry copies of both their models in the same form; those of real apps
/// gave the hashes of the XML of the same versions. Not known are fetched properties' requests, which neither hashes
/// nor stores have.
///
/// The XML has no form for user info that isn't text, and none for a date's default and bounds as the old editor wrote
/// them: texts in its user's language (`Attribute.dateText`). Both are put into the finished model.
struct EditorModelReader {
    private typealias Element = XMLTree.Element
    private typealias Reference = KeyedArchive.Reference
    private typealias Place = ModelConsistency.Place

    static let rootClass = "XDPMModel"

    private let archive: KeyedArchive
    private var problems: [ModelError.Problem] = []
    private var userInfos: [Place: [String: Constant]] = [:]
    /// The default and the bounds of dates, by the XML's key of each.
    private var dateTexts: [Place: [String: String]] = [:]
    /// The entity and property being read, for messages.
    private var place: Place?
    /// Settings read so far: an archive can name one long list many times.
    private var settingCount = 0

    private init(_ archive: KeyedArchive) {
        self.archive = archive
    }

    /// Throws `damaged` where the objects aren't those of an editor, `inconsistent` with every problem found.
    static func read(_ archive: KeyedArchive) throws(ModelError) -> ManagedObjectModel {
        var reader = EditorModelReader(archive)
        let root: Element
        do throws(PropertyListError) {
            root = try reader.model()
        } catch {
            let place = [reader.place?.entity, reader.place?.property].compactMap { $0 }.joined(separator: ".")
            throw ModelError(
                .damaged,
                "The model's source (“elements”) can't be read\(place.isEmpty ? "" : ", at \(place)"): \(error).")
        }
        guard reader.problems.isEmpty else {
            throw ModelError(
                .inconsistent, "The model's source (“elements”) can't be understood; save it once with a newer Xcode.",
                problems: reader.problems)
        }
        var model = try SourceModelReader.read(root)
        for (place, info) in reader.userInfos { model.set(userInfo: info, at: place) }
        for (place, texts) in reader.dateTexts { model.set(dateTexts: texts, at: place) }
        return model
    }

    // MARK: - Model and entities

    private mutating func model() throws(PropertyListError) -> Element {
        var children: [Element] = []
        if let package = try archive.field("_xd_rootPackage", of: archive.root)?.reference {
            for (name, value) in try entries("XDBucketForClassesstorage", of: package) {
                children.append(try entity(instance(value, "entity", name), named: name))
            }
        }
        for (name, value) in try entries("_configurationsByName", of: archive.root) {
            var members: [Element] = []
            for member in try archive.array(value) ?? [] { members.append(try self.member(member)) }
            children.append(Element(name: "configuration", attributes: ["name": name], children: members))
        }
        let identifier = try archive.string(archive.field("_modelVersionIdentifier", of: archive.root))
        return Element(
            name: "model", attributes: ["userDefinedModelVersionIdentifier": identifier ?? ""], children: children)
    }

    private func member(_ value: ArchivedValue) throws(PropertyListError) -> Element {
        let name: String?
        if let reference = value.reference, archive.archivedClass(of: reference)?.isKind(of: "NSString") != true {
            name = try self.name(of: reference)
        } else {
            name = try archive.string(value)
        }
        return Element(name: "memberEntity", attributes: ["name": name ?? ""])
    }

    private mutating func entity(_ entity: Reference, named name: String) throws(PropertyListError) -> Element {
        place = Place(entity: name)
        let settings = try settings(of: entity)
        var attributes = ["name": name]
        attributes["representedClassName"] = try settings.text("XD_PSK_entityClassName", archive)
        attributes["isAbstract"] = try settings.flag("XD_PSK_isAbstract", archive)
        attributes["elementID"] = try settings.text("XD_PSK_elementID", archive)
        attributes["versionHashModifier"] = try settings.text("XD_PSK_versionHashModifier", archive)
        for value in try archive.array(archive.field("XDBucketForGeneralizationsstorage", of: entity)) ?? [] {
            let link = try instance(value, "parent", name)
            attributes["parentEntity"] = try archive.field("_general", of: link)?.reference.map(self.name(of:)) ?? nil
        }
        var children: [Element] = []
        try readUserInfo("XD_PSK_userInfo", settings, Place(entity: name))
        for (property, value) in try entries("XDBucketForOwnedAttributesstorage", of: entity) {
            place = Place(entity: name, property: property)
            children.append(try self.property(instance(value, "property", property), named: property, of: name))
        }
        place = nil
        children += try lists(
            settings["XDPMCompoundIndexes"], ("compoundIndexes", "compoundIndex", "index"))
        children += try lists(
            settings["XDPMUniquenessConstraints"], ("uniquenessConstraints", "uniquenessConstraint", "constraint"))
        return Element(name: "entity", attributes: attributes, children: children)
    }

    /// `<outer><middle><inner value="a"/></middle>…</outer>` for lists of property names; nothing where there are none.
    private func lists(
        _ value: ArchivedValue?, _ names: (outer: String, middle: String, inner: String)
    ) throws(PropertyListError) -> [Element] {
        var groups: [Element] = []
        for list in try archive.array(value) ?? [] {
            var members: [Element] = []
            for member in try archive.array(list) ?? [] {
                members.append(
                    Element(name: names.inner, attributes: ["value": try archive.string(member) ?? ""]))
            }
            groups.append(Element(name: names.middle, children: members))
        }
        return groups.isEmpty ? [] : [Element(name: names.outer, children: groups)]
    }

    /// Any property-list value may be there: Xcode 3's pane for Sync Services wrote dictionaries.
    private mutating func readUserInfo(
        _ setting: String, _ settings: Settings, _ place: Place
    ) throws(PropertyListError) {
        var entries: [String: Constant] = [:]
        let pairs = try settings.value(setting) { value throws(PropertyListError) in try archive.pairs(value) }
        for pair in pairs ?? [] {
            // As in compiled models: other keys mean nothing to Core Data.
            guard let key = try? archive.string(pair.key) else { continue }
            do throws(ExpressionArchiveError) {
                entries[key] = try Constant(archive: archive, value: pair.value)
            } catch {
                problems.append(
                    .init(
                        "The user info “\(key)” (\(setting)) can't be read: \(error).", entity: place.entity,
                        property: place.property))
            }
        }
        if !entries.isEmpty { userInfos[place] = entries }
    }

    // MARK: - Properties

    private mutating func property(
        _ property: Reference, named name: String, of entity: String
    ) throws(PropertyListError) -> Element {
        let settings = try settings(of: property)
        var attributes = ["name": name]
        attributes["optional"] = try settings.flag("XD_PPSK_isOptional", archive)
        attributes["transient"] = try settings.flag("XD_PPSK_isTransient", archive)
        attributes["indexed"] = try settings.flag("XD_PPSK_isIndexed", archive)
        attributes["spotlightIndexingEnabled"] = try settings.flag("XD_PPSK_isSpotlightIndexed", archive)
        attributes["elementID"] = try settings.text("XD_PPSK_elementID", archive)
        attributes["versionHashModifier"] = try settings.text("XD_PPSK_versionHashModifier", archive)
        let element: String
        switch archive.className(of: property) {
        case "XDPMAttribute":
            element = "attribute"
            try add(attribute: settings, to: &attributes, Place(entity: entity, property: name))
        case "XDPMRelationship":
            element = "relationship"
            try add(relationship: settings, to: &attributes)
        case "XDPMFetchedProperty":
            element = "fetchedProperty"
        case let kind:
            throw PropertyListError(
                .typeMismatch, "The property “\(entity).\(name)” is a \(kind ?? "plain value"), which isn't known",
                at: archive.place(of: property))
        }
        try readUserInfo("XD_PPSK_userInfo", settings, Place(entity: entity, property: name))
        return Element(name: element, attributes: attributes)
    }

    private mutating func add(
        attribute settings: Settings, to attributes: inout [String: String], _ place: Place
    ) throws(PropertyListError) {
        let number = try archive.integer(settings["XD_PAttK_attributeType"]) ?? 0
        let type = Int(exactly: number).flatMap(AttributeType.init(rawValue:))
        // A number that isn't known stays in the text, for the reader's message.
        attributes["attributeType"] = type.map { $0.sourceName ?? "" } ?? String(number)
        let keys = Self.valueKeys(isDate: type == .date)
        let values = [
            keys.default: try settings.text("XD_PAttK_defaultValueAsString", archive),
            keys.least: try settings.text("XD_PAttK_minValueString", archive),
            keys.greatest: try settings.text("XD_PAttK_maxValueString", archive),
        ].compactMapValues { $0 }
        if type == .date {
            let texts = values.filter { !$0.value.isEmpty }
            if !texts.isEmpty { dateTexts[place] = texts }
        } else {
            attributes.merge(values) { $1 }
        }
        attributes["regularExpressionString"] = try settings.text("XD_PAttK_regularExpressionString", archive)
        attributes["valueTransformerName"] = try settings.text("XD_PAttK_valueTransformerName", archive)
        attributes["allowsExternalBinaryDataStorage"] =
            try settings.flag("XD_PAttK_allowsExternalBinaryDataStorage", archive)
    }

    /// The XML's keys of a default and its bounds.
    private static func valueKeys(isDate: Bool) -> (default: String, least: String, greatest: String) {
        isDate
            ? ("defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval")
            : ("defaultValueString", "minValueString", "maxValueString")
    }

    private func add(
        relationship settings: Settings, to attributes: inout [String: String]
    ) throws(PropertyListError) {
        let isToMany = try settings.flag("XD_PRK_isToMany", archive)
        attributes["toMany"] = isToMany
        attributes["ordered"] = try settings.flag("XD_PRK_ordered", archive)
        attributes["minCount"] = String(try archive.integer(settings["XD_PRK_minCount"]) ?? 0)
        attributes["maxCount"] = String(try archive.integer(settings["XD_PRK_maxCount"]) ?? (isToMany == nil ? 1 : 0))
        switch try archive.integer(settings["XD_PRK_deleteRule"]) {
        case 0: attributes["deletionRule"] = "No Action"
        case nil, 1: attributes["deletionRule"] = "Nullify"
        case 2: attributes["deletionRule"] = "Cascade"
        case 3: attributes["deletionRule"] = "Deny"
        case let rule?: attributes["deletionRule"] = String(rule)
        }
        attributes["destinationEntity"] = try settings["XD_PRK_destination"]?.reference.map(name(of:)) ?? nil
        guard let inverse = settings["XD_PRK_inverseRelationship"]?.reference else { return }
        attributes["inverseName"] = try name(of: inverse)
        attributes["inverseEntity"] = try archive.field("_owner", of: inverse)?.reference.map(name(of:)) ?? nil
    }

    // MARK: - Settings

    /// What the stereotypes of an entity or a property say, by the setting's name.
    private struct Settings {
        private var values: [String: ArchivedValue] = [:]

        subscript(name: String) -> ArchivedValue? {
            get { values[name] }
            set { values[name] = newValue }
        }

        func text(_ name: String, _ archive: KeyedArchive) throws(PropertyListError) -> String? {
            try value(name) { value throws(PropertyListError) in try archive.string(value) }
        }

        /// As the XML has it: YES, or absent.
        func flag(_ name: String, _ archive: KeyedArchive) throws(PropertyListError) -> String? {
            try value(name) { value throws(PropertyListError) in try archive.boolean(value) } == true ? "YES" : nil
        }

        /// What `read` makes of the setting; its errors name the setting.
        func value<Value>(
            _ name: String, _ read: (ArchivedValue?) throws(PropertyListError) -> Value?
        ) throws(PropertyListError) -> Value? {
            do {
                return try read(values[name])
            } catch {
                throw PropertyListError(error.code, "“\(name)”: \(error.message)", at: error.place)
            }
        }
    }

    private mutating func settings(of object: Reference) throws(PropertyListError) -> Settings {
        var settings = Settings()
        for (name, stereotype) in try entries("XDBucketForStereotypesstorage", of: object) {
            let stereotype = try instance(stereotype, "stereotype", name)
            for (setting, value) in try entries("XDBucketForOwnedAttributesstorage", of: stereotype) {
                settings[setting] = try archive.field("_default", of: instance(value, "setting", setting))
            }
        }
        return settings
    }

    private mutating func entries(
        _ field: String, of object: Reference
    ) throws(PropertyListError) -> [(key: String, value: ArchivedValue)] {
        let entries = try archive.dictionary(archive.field(field, of: object)) ?? []
        settingCount += entries.count
        guard settingCount <= XMLLimits.elements else {
            throw PropertyListError(.limitExceeded, "The model has more than \(XMLLimits.elements) settings")
        }
        return entries
    }

    private func name(of object: Reference) throws(PropertyListError) -> String? {
        try archive.string(archive.field("_name", of: object))
    }

    private func instance(
        _ value: ArchivedValue, _ role: String, _ name: String
    ) throws(PropertyListError) -> Reference {
        guard let reference = value.reference else {
            throw PropertyListError(.typeMismatch, "The \(role) “\(name)” isn't an object")
        }
        return reference
    }
}

extension ManagedObjectModel {
    fileprivate mutating func set(userInfo: [String: Constant], at place: ModelConsistency.Place) {
        guard var entity = entities[place.entity] else { return }
        if let name = place.property {
            for index in entity.attributes.indices where entity.attributes[index].name == name {
                entity.attributes[index].userInfo = userInfo
            }
            for index in entity.relationships.indices where entity.relationships[index].name == name {
                entity.relationships[index].userInfo = userInfo
            }
            for index in entity.fetchedProperties.indices where entity.fetchedProperties[index].name == name {
                entity.fetchedProperties[index].userInfo = userInfo
            }
        } else {
            entity.userInfo = userInfo
        }
        entities[place.entity] = entity
    }

    fileprivate mutating func set(dateTexts: [String: String], at place: ModelConsistency.Place) {
        guard let index = entities[place.entity]?.attributes.firstIndex(where: { $0.name == place.property }) else {
            return
        }
        entities[place.entity]?.attributes[index].set(dateTexts: dateTexts)
    }
}
