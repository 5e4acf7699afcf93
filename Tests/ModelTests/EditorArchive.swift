import CausewayExpressions
import CausewayPlist

/// Writes a model as the editor before Xcode 4 saved it (`elements`): objects with stereotypes that hold settings.
struct EditorArchive {
    enum Setting {
        case text(String)
        case flag(Bool)
        case number(Int64)
        case info([(String, Constant)])
        case lists([[String]])
        case entity(String)
        case relationship(entity: String, name: String)
    }

    struct Property {
        var kind = "XDPMAttribute"
        let name: String
        var settings: [(String, Setting)] = []
    }

    struct Entity {
        let name: String
        var parent: String?
        var settings: [(String, Setting)] = []
        var properties: [Property] = []
    }

    private typealias Reference = KeyedArchiveWriter.Reference

    private var writer = KeyedArchiveWriter()
    /// Places of entities and of relationships, by `Entity` and `Entity.name`.
    private var places: [String: Reference] = [:]

    static func bytes(
        _ entities: [Entity], identifier: String? = nil, configurations: [(String, [String])] = []
    ) throws -> [UInt8] {
        var archive = EditorArchive()
        return try archive.write(entities, identifier, configurations)
    }

    private mutating func write(
        _ entities: [Entity], _ identifier: String?, _ configurations: [(String, [String])]
    ) throws -> [UInt8] {
        for entity in entities {
            places[entity.name] = writer.reserve()
            for property in entity.properties { places["\(entity.name).\(property.name)"] = writer.reserve() }
        }
        for entity in entities { try write(entity) }
        let classes = writer.mutableDictionary(
            entities.map { (writer.string($0.name), places[$0.name, default: .null]) })
        let package = object("XDModelPackage", [("XDBucketForClassesstorage", .reference(classes))])
        var members: [(key: Reference, value: Reference)] = []
        for (name, entities) in configurations {
            members.append((writer.string(name), writer.mutableArray(entities.map { places[$0, default: .null] })))
        }
        let root = object(
            "XDPMModel",
            [
                ("_xd_rootPackage", .reference(package)),
                ("_configurationsByName", .reference(writer.mutableDictionary(members))),
                ("_modelVersionIdentifier", identifier.map { .reference(writer.string($0)) } ?? .null),
            ])
        return try writer.bytes(root: root)
    }

    private mutating func write(_ entity: Entity) throws {
        for property in entity.properties {
            fill(
                "\(entity.name).\(property.name)", property.kind,
                [
                    ("_name", .reference(writer.string(property.name))),
                    ("_owner", .reference(places[entity.name, default: .null])),
                    ("XDBucketForStereotypesstorage", try stereotypes(property.settings)),
                ])
        }
        var parents: [Reference] = []
        if let parent = entity.parent {
            parents = [object("XDUMLGeneralizationImp", [("_general", .reference(places[parent, default: .null]))])]
        }
        let properties = entity.properties.map {
            (key: writer.string($0.name), value: places["\(entity.name).\($0.name)", default: .null])
        }
        fill(
            entity.name, "XDPMEntity",
            [
                ("_name", .reference(writer.string(entity.name))),
                ("XDBucketForGeneralizationsstorage", .reference(writer.mutableArray(parents))),
                ("XDBucketForStereotypesstorage", try stereotypes(entity.settings)),
                ("XDBucketForOwnedAttributesstorage", .reference(writer.mutableDictionary(properties))),
            ])
    }

    /// One stereotype for each setting: which one has it means nothing.
    private mutating func stereotypes(_ settings: [(String, Setting)]) throws -> KeyedArchiveWriter.Field {
        var stereotypes: [(key: Reference, value: Reference)] = []
        for (name, setting) in settings {
            let property = object(
                "XDUMLPropertyImp",
                [("_name", .reference(writer.string(name))), ("_default", .reference(try value(setting)))])
            let held = writer.mutableDictionary([(writer.string(name), property)])
            let stereotype = object(
                "XDUMLStereotypeImp", [("XDBucketForOwnedAttributesstorage", .reference(held))])
            stereotypes.append((writer.string("stereotype of \(name)"), stereotype))
        }
        return .reference(writer.mutableDictionary(stereotypes))
    }

    private mutating func value(_ setting: Setting) throws -> Reference {
        switch setting {
        case .text(let text): return writer.string(text)
        case .flag(let flag): return writer.boolean(flag)
        case .number(let number): return writer.integer(number)
        case .entity(let name): return places[name, default: .null]
        case .relationship(let entity, let name): return places["\(entity).\(name)", default: .null]
        case .info(let entries):
            return writer.mutableDictionary(try entries.map { (writer.string($0.0), try $0.1.archive(into: &writer)) })
        case .lists(let lists):
            let arrays = lists.map { list in writer.mutableArray(list.map { writer.string($0) }) }
            return writer.mutableArray(arrays)
        }
    }

    private mutating func object(_ kind: String, _ fields: [(name: String, value: KeyedArchiveWriter.Field)])
        -> Reference
    {
        writer.add(ArchivedClass([kind, "NSObject"]), fields)
    }

    private mutating func fill(
        _ place: String, _ kind: String, _ fields: [(name: String, value: KeyedArchiveWriter.Field)]
    ) {
        writer.fill(places[place, default: .null], ArchivedClass([kind, "NSObject"]), fields)
    }
}
