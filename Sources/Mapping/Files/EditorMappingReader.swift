/// Reads `xcmapping.xml`, the file of Xcode's editor in an `.xcmappingmodel`.
///
/// Seen in real files: an `XDDEVMAPPINGMODEL` with paths and copies of both models; its `entitymappings`, ordered by
/// `mappingnumber`; each entity mapping's `attributemappings` and `relationshipmappings`, sets without order. Left out
/// are default names, default expressions, true `autogenerateexpression` flags of attributes, and empty filters. The
/// mapping type is always “Undefined”. Objects that the model doesn't reach were deleted in the editor (LoopKit's file
/// has 17 of them); they're ignored, as in Xcode's compiler.
package struct EditorMappingReader {
    typealias Object = EditorDatabase.Object

    package static let model = "XDDEVMAPPINGMODEL"
    package static let entityMapping = "XDDEVENTITYMAPPING"
    package static let attributeMapping = "XDDEVATTRIBUTEMAPPING"
    package static let relationshipMapping = "XDDEVRELATIONSHIPMAPPING"

    /// The known attributes per type; others become a notice.
    private static let known: [String: Set<String>] = [
        model: [
            "sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata", "entitymappings",
        ],
        entityMapping: [
            "name", "mappingtypename", "mappingnumber", "sourcename", "destinationname", "autogenerateexpression",
            "sourceexpressiondata", "sourcefilterpredicatestring", "migrationpolicyclassname", "userinfodata",
            "mappingmodel", "attributemappings", "relationshipmappings",
        ],
        attributeMapping: ["name", "valueexpressiondata", "autogenerateexpression", "userinfodata", "entitymapping"],
        relationshipMapping: [
            "name", "valueexpressiondata", "autogenerateexpression", "userinfodata", "entitymapping", "sourcekeypath",
            "sourcemappingname",
        ],
    ]

    private let database: EditorDatabase
    private var values = ArchivedMappingValues()
    /// Objects that were reached; each belongs to one owner.
    private var reached: Set<String> = []
    private var propertyCount = 0
    private var notices: [String] = []

    /// The name and the path are the caller's.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingModelDescription {
        var reader = EditorMappingReader(database: try EditorDatabase(bytes))
        return try reader.read()
    }

    private mutating func read() throws(MappingFileError) -> MappingModelDescription {
        let roots = database.objects(ofType: Self.model)
        guard let root = roots.first, roots.count == 1 else {
            throw MappingFileError(
                .notAMappingModel,
                "The XML holds \(roots.count) mapping models (\(Self.model)) instead of one; name an .xcmappingmodel.")
        }
        noteUnknown(root)
        let objects = try targets("entitymappings", of: root, Self.entityMapping)
        try MappingFileLimits.check(objects.count, MappingFileLimits.entityMappings, "entity mappings")
        var mappings: [(number: Int, mapping: EntityMappingDescription)] = []
        for object in objects { mappings.append((try object.number("mappingnumber") ?? 0, try entityMapping(object))) }
        // Equal numbers keep the file's order: the sort is stable.
        mappings.sort { $0.number < $1.number }
        var description = MappingModelDescription(
            name: "", form: .editor, entityMappings: mappings.map(\.mapping),
            sourceModel: try recordedModel("source", root), destinationModel: try recordedModel("destination", root))
        description.notices = notices
        return description
    }

    private func recordedModel(_ side: String, _ root: Object) throws(MappingFileError) -> RecordedModel? {
        let path = root.text("\(side)modelpath")
        let archive = try root.data("\(side)modeldata")
        return path == nil && archive == nil ? nil : RecordedModel(path: path, editorArchive: archive)
    }

    private mutating func entityMapping(_ object: Object) throws(MappingFileError) -> EntityMappingDescription {
        noteUnknown(object)
        let source = object.text("sourcename")
        let destination = object.text("destinationname")
        let name =
            object.text("name")
            ?? EntityMappingDescription.defaultName(source: source, destination: destination)
        do throws(MappingFileError) {
            var mapping = EntityMappingDescription(
                name: name, kind: try kind(object), sourceEntity: source, destinationEntity: destination)
            // No known file has one; read like a property's, where a written expression overrides the flag.
            if let bytes = try object.data("sourceexpressiondata") {
                mapping.sourceExpression = try values.expression(archived: bytes)
            }
            mapping.filter = object.text("sourcefilterpredicatestring")
            if mapping.sourceExpression != nil, mapping.filter != nil {
                notices.append(
                    "The entity mapping “\(name)” (line \(object.line)) has a source expression and a filter; the "
                        + "expression is used.")
            }
            mapping.policyClassName = object.text("migrationpolicyclassname")
            if let notice = mapping.noticeOfMissingPolicy { notices.append(notice) }
            if let bytes = try object.data("userinfodata") { mapping.userInfo = try values.userInfo(archived: bytes) }
            for property in try targets("attributemappings", of: object, Self.attributeMapping) {
                mapping.attributeMappings.append(try propertyMapping(property))
            }
            for property in try targets("relationshipmappings", of: object, Self.relationshipMapping) {
                mapping.relationshipMappings.append(try propertyMapping(property))
            }
            return mapping
        } catch {
            throw error.at(mapping: name)
        }
    }

    private func kind(_ object: Object) throws(MappingFileError) -> EntityMappingKind {
        guard let name = object.text("mappingtypename") else { return .undefined }
        guard let kind = EntityMappingKind.allCases.first(where: { $0.editorName == name }) else {
            throw object.error("Its mapping type “\(name)” isn't known.")
        }
        return kind
    }

    private mutating func propertyMapping(_ object: Object) throws(MappingFileError) -> PropertyMappingDescription {
        noteUnknown(object)
        propertyCount += 1
        try MappingFileLimits.check(propertyCount, MappingFileLimits.propertyMappings, "property mappings")
        guard let name = object.text("name") else { throw object.error("It names no property.") }
        do throws(MappingFileError) {
            var mapping = PropertyMappingDescription(name: name, expression: nil)
            // A written expression counts even if the flag says “autogenerate” [O: previousOwners of V2toV3].
            if let bytes = try object.data("valueexpressiondata") {
                mapping.expression = try values.expression(archived: bytes)
            }
            let path = object.text("sourcekeypath")
            let carrier = object.text("sourcemappingname")
            if mapping.expression == nil {
                if path != nil || carrier != nil {
                    mapping.origin = .keyPath(path, mapping: carrier)
                } else if try object.flag("autogenerateexpression") ?? true {
                    mapping.origin = .automatic
                }
            } else if path != nil || carrier != nil {
                notices.append(
                    "The mapping of “\(name)” (line \(object.line)) has a value expression and a key path; the "
                        + "expression is used.")
            }
            if let bytes = try object.data("userinfodata") { mapping.userInfo = try values.userInfo(archived: bytes) }
            return mapping
        } catch {
            throw error.at(property: name)
        }
    }

    // MARK: - References

    /// The objects of a relationship, each of which has only this owner, so there are no circles.
    private mutating func targets(
        _ name: String, of object: Object, _ type: String
    ) throws(MappingFileError) -> [Object] {
        var targets: [Object] = []
        for id in object.relationships[name] ?? [] {
            guard let target = database.objects[id] else {
                throw object.error("Its “\(name)” names \(id), which isn't there.")
            }
            guard target.type == type else {
                throw object.error("Its “\(name)” names \(id), which is a \(target.type).")
            }
            guard reached.insert(id).inserted else {
                throw object.error("Its “\(name)” names \(id), which another object has already.")
            }
            targets.append(target)
        }
        return targets
    }

    private mutating func noteUnknown(_ object: Object) {
        let known = Self.known[object.type] ?? []
        for name in (Array(object.attributes.keys) + object.relationships.keys).sorted() where !known.contains(name) {
            notices.append(
                "The \(object.type) in line \(object.line) has “\(name)”, which isn't known and is ignored.")
        }
    }
}

extension EntityMappingDescription {
    /// nil unless it is a custom mapping without a policy's class.
    var noticeOfMissingPolicy: String? {
        guard kind == .custom, policyClassName == nil else { return nil }
        return "The custom entity mapping “\(name)” names no policy class, so the default policy is used."
    }
}

extension EntityMappingKind {
    /// As the editor spells it. Real files say “Undefined” only; the others follow Core Data's names.
    package var editorName: String { word.prefix(1).uppercased() + word.dropFirst() }
}
