package import CausewayModel

/// What is known about a value before it is computed. Every type includes NULL.
package indirect enum ValueType: Sendable {
    /// Nothing: a transformable's value, what a function gives, an app's own variable.
    case any
    case null
    /// Boolean, integer, real and decimal: `NSNumber`.
    case number
    case string, date, data, uuid, uri
    case object(ModelSchema, entity: String)
    /// A composite attribute; while a key path is walked, the value is still the object that has it.
    case composite(ModelSchema, entity: String, path: String)
    /// `objectID`; the value is the object.
    case objectID(ModelSchema, entity: String)
    /// `entity`; the value is the entity's name.
    case entity
    case collection(Collection, of: ValueType)
    /// Something with functions but no value.
    case receiver(FunctionReceiver)

    /// How key-value coding treats a collection's members.
    package enum Collection: Hashable, Sendable {
        /// A key's nulls are kept.
        case array
        /// A key's nulls and duplicates are dropped.
        case set
    }

    package init(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: self = .number
        case .string: self = .string
        case .date: self = .date
        case .binary: self = .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .undefined, .transformable, .objectID, .composite: self = .any
        }
    }

    init(_ variable: VariableType) {
        switch variable {
        case .object(let schema, let entity): self = .object(schema, entity: entity)
        case .objects(let schema, let entity): self = .collection(.set, of: .object(schema, entity: entity))
        case .manager: self = .receiver(.manager)
        case .entityPolicy: self = .receiver(.entityPolicy)
        case .entityMapping: self = .receiver(.entityMapping)
        case .propertyMapping: self = .receiver(.propertyMapping)
        case .any: self = .any
        }
    }

    /// For messages, with its article.
    package var summary: String {
        switch self {
        case .any: "a value"
        case .null: "NULL"
        case .number: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "binary data"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .object(_, let entity): "an object of \(entity)"
        case .composite: "a composite attribute"
        case .objectID: "an object ID"
        case .entity: "an entity"
        case .collection(_, .object(_, let entity)): "a collection of \(entity)"
        case .collection: "a collection"
        case .receiver(.manager): "the migration manager"
        case .receiver(.entityPolicy): "the policy"
        case .receiver(.entityMapping): "the entity mapping"
        case .receiver(.propertyMapping): "the property mapping"
        case .receiver(.object): "an object"
        }
    }

    /// The members' type; nil for what is no collection.
    var element: ValueType? {
        switch self {
        case .collection(_, let element): element
        case .any, .null: .any
        default: nil
        }
    }
}
