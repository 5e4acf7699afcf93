package import CausewayExpressions

/// A mapping model as its author wrote it: an `.xcmappingmodel`, a `.cdm`, or Swift. What `NSMappingModel` holds.
///
/// `MappingModel` is inferred from two models; this one can have policies and expressions. Defaults are still open
/// here; `resolved(from:to:)` fills them in from the two models.
package struct MappingModelDescription: Hashable, Sendable {
    /// The description's source, which decides how it's matched to two models and what its order means.
    package enum Form: Hashable, Sendable {
        /// `.xcmappingmodel`: no hashes, defaults left out; the order of property mappings has no meaning.
        case editor
        /// `.cdm`: everything written out, with the hashes of the entities it was compiled for.
        case compiled
        /// Swift: checked against the models alone. `attributeMappings` may name relationships too.
        case code
    }

    /// For people: the file's name without extension, or the name given in Swift.
    package var name: String
    /// Where it was read from; nil for one written in Swift.
    package var path: String?
    package var form: Form
    /// In processing order.
    package var entityMappings: [EntityMappingDescription]
    /// The models that an `.xcmappingmodel` says it's for.
    package var sourceModel: RecordedModel?
    package var destinationModel: RecordedModel?
    /// Unknown content of the file, one sentence each.
    package var notices: [String] = []

    package init(
        name: String, path: String? = nil, form: Form = .code, entityMappings: [EntityMappingDescription],
        sourceModel: RecordedModel? = nil, destinationModel: RecordedModel? = nil
    ) {
        self.name = name
        self.path = path
        self.form = form
        self.entityMappings = entityMappings
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
    }
}

/// A model as an `.xcmappingmodel` records it.
package struct RecordedModel: Hashable, Sendable {
    /// As the project had it when the mapping model was saved: `Migrations/Moody.xcdatamodeld/Moody 2.xcdatamodel`.
    package var path: String?
    /// The editor's own copy of the model, a keyed archive of Xcode's private classes. Not read here, and kept because
    /// Apple's compiler needs it.
    package var editorArchive: [UInt8]?

    package init(path: String?, editorArchive: [UInt8]? = nil) {
        self.path = path
        self.editorArchive = editorArchive
    }

    /// The version's name: the path's last part without its extension.
    package var name: String? {
        guard let last = path?.split(separator: "/").last else { return nil }
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return String(last) }
        return String(last[..<dot])
    }

    /// The name of the bundle that the version was in, without extension; nil where the path names none.
    package var bundle: String? {
        let folder = path?.split(separator: "/").last { Self.bundleExtensions.contains(where: $0.hasSuffix) }
        return folder.flatMap { name in name.lastIndex(of: ".").map { String(name[..<$0]) } }
    }

    private static let bundleExtensions = [".xcdatamodeld", ".momd"]
}

/// `NSEntityMappingType`; the raw values are Core Data's.
package enum EntityMappingKind: Int, Hashable, Sendable, CaseIterable {
    case undefined = 0
    /// Carries a policy.
    case custom = 1
    case add = 2
    case remove = 3
    case copy = 4
    case transform = 5
}

/// What `NSEntityMapping` holds.
package struct EntityMappingDescription: Hashable, Sendable {
    package var name: String
    package var kind: EntityMappingKind
    package var sourceEntity: String?
    package var destinationEntity: String?
    /// 32 bytes; nil where the file has none (`.xcmappingmodel` keeps the models, not the hashes).
    package var sourceHash: [UInt8]?
    package var destinationHash: [UInt8]?
    /// In processing order.
    package var attributeMappings: [PropertyMappingDescription] = []
    package var relationshipMappings: [PropertyMappingDescription] = []
    /// The source rows: `FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', …), …)` in a
    /// file; nil is every row of exactly the source entity.
    package var sourceExpression: Expression?
    /// A filter as it was typed, if it isn't part of a source expression yet; resolution makes the expression.
    package var filter: String?
    /// Whether resolution adds a default mapping for every destination property that isn't mentioned and that the
    /// source has under its name or renaming identifier. Not for files: what Xcode's editor left out stays out.
    package var fillsUnmentioned = false
    package var policyClassName: String?
    package var userInfo: [String: Constant] = [:]

    package init(name: String, kind: EntityMappingKind, sourceEntity: String?, destinationEntity: String?) {
        self.name = name
        self.kind = kind
        self.sourceEntity = sourceEntity
        self.destinationEntity = destinationEntity
    }

    /// Xcode's name for a mapping without one: `SourceToDestination`, or the one entity's name (InsideCoreDataMigration
    /// §1).
    package static func defaultName(source: String?, destination: String?) -> String {
        guard let source, let destination else { return destination ?? source ?? "" }
        return "\(source)To\(destination)"
    }
}

/// What `NSPropertyMapping` holds.
package struct PropertyMappingDescription: Hashable, Sendable {
    /// The destination property; a composite's leaf is `composite.leaf`.
    package var name: String
    /// nil leaves the property alone, unless there is an `origin`: a new object keeps the model's default.
    package var expression: Expression?
    /// What resolution makes the expression from, if there is none yet; always nil in a resolved mapping.
    package var origin: PropertyOrigin?
    package var userInfo: [String: Constant]

    package init(
        name: String, expression: Expression?, origin: PropertyOrigin? = nil, userInfo: [String: Constant] = [:]
    ) {
        self.name = name
        self.expression = expression
        self.origin = origin
        self.userInfo = userInfo
    }
}

/// A value that isn't written out as an expression yet.
package enum PropertyOrigin: Hashable, Sendable {
    /// The source's property of the same name if there is one, else nothing: the editor's “autogenerate”.
    case automatic
    /// This source property, which must exist.
    case property(String)
    /// A relationship in the form of Xcode's editor: the source objects at a key path (`$source.country.continent`; nil
    /// is the property of the same name), through the entity mapping that carried them over (nil: found as for a
    /// default).
    case keyPath(String?, mapping: String?)
    /// A value expression's text, parsed when it is resolved.
    case text(String)
}
