package import CausewayExpressions

/// A managed object model as a value: what `NSManagedObjectModel` holds, whatever form it was read from.
///
/// The readers give the compiled meaning: what Xcode's compiler adds (implicit fetch indexes, validation predicates,
/// class names) is in the value whether it came from XML source or from an archive, so that hashes, layout and
/// inference have one implementation.
package struct ManagedObjectModel: Hashable, Sendable {
    /// Every entity, abstract ones included, by name.
    package var entities: [String: Entity] { didSet { hierarchy = Remembered() } }
    /// Entity names by configuration name; the default configuration isn't listed.
    package var configurations: [String: [String]]
    /// What the store's metadata calls `NSStoreModelVersionIdentifiers`: `[""]` where the source says nothing, `[]` for
    /// a model that was built in code.
    package var versionIdentifiers: [String]
    private(set) var hierarchy = Remembered<HierarchyFacts>()

    package init(
        entities: [Entity] = [], configurations: [String: [String]] = [:], versionIdentifiers: [String] = [""]
    ) {
        self.entities = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.configurations = configurations
        self.versionIdentifiers = versionIdentifiers
    }
}

/// One entity with the properties it declares itself; inherited ones are the parent's.
package struct Entity: Hashable, Sendable {
    package var name: String
    /// `representedClassName`; nil if the compiler leaves it out.
    package var managedObjectClassName: String?
    package var isAbstract = false
    package var parent: String?
    /// As written (`elementID` in XML); nil where it equals the name.
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: Constant] = [:]
    /// The readers sort properties by name; the order has no meaning.
    package var attributes: [Attribute] = []
    package var relationships: [Relationship] = []
    package var fetchedProperties: [FetchedProperty] = []
    /// Implicit ones first, sorted by name, then those of the source in its order.
    package var fetchIndexes: [FetchIndex] = []
    /// Own constraints only, in the source's order; each names attributes or to-one relationships.
    package var uniquenessConstraints: [[String]] = []
    /// Compound indexes from before fetch indexes (iOS 10 and older).
    package var compoundIndexes: [[String]] = []

    package init(name: String) {
        self.name = name
    }
}

/// One attribute: plain, derived (`derivation`) or composite (`elements`).
package struct Attribute: Hashable, Sendable {
    package var name: String
    package var type: AttributeType
    package var isOptional = false
    package var isTransient = false
    /// The `indexed` flag from before fetch indexes; also set by the compiler for a one-element ascending index.
    package var isIndexed = false
    package var isIndexedBySpotlight = false
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: Constant] = [:]
    package var defaultValue: Constant?
    package var allowsExternalBinaryDataStorage = false
    package var preservesValueInHistoryOnDeletion = false
    package var allowsCloudEncryption = false
    package var valueTransformerName: String?
    /// `NSAttributeValueClassName`: `NSString`, `NSNumber`, …, or the app's class of a transformable.
    package var valueClassName: String?
    /// Minimum, maximum and regular expression, as the compiler turns them into predicates.
    package var validations: [Validation] = []
    package var derivation: Derivation?
    /// The elements of a composite attribute in the model's order, not sorted (InsideStoreFormat §4.2); else empty.
    package var elements: [Attribute] = []

    package init(name: String, type: AttributeType) {
        self.name = name
        self.type = type
    }

    /// One of `NSValidationPredicates` with its place in `NSValidationWarnings`.
    package struct Validation: Hashable, Sendable {
        package var predicate: Predicate
        /// The error code that a failure gives (1610 too large, 1620 too small, 1660 too long, …) or a message.
        package var warning: Constant

        package init(predicate: Predicate, warning: Constant) {
            self.predicate = predicate
            self.warning = warning
        }
    }

    /// What makes an attribute derived.
    package struct Derivation: Hashable, Sendable {
        /// `chapters.@count` is held as `.function(operand: nil, name: "count:", arguments: [.key("chapters")])`,
        /// `now()` as `.function(operand: nil, name: "now", arguments: [])`, `toOne.attribute` as a key path.
        package var expression: Expression
        package var filter: Predicate?

        package init(expression: Expression, filter: Predicate? = nil) {
            self.expression = expression
            self.filter = filter
        }
    }
}

/// `NSAttributeType`; the raw values are those of the archive and of the version hash.
package enum AttributeType: Int, Hashable, Sendable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
}

/// One relationship, to-one where `maxCount` is 1.
package struct Relationship: Hashable, Sendable {
    package var name: String
    package var destination: String
    /// The inverse's name, declared in `inverseEntity` or one of its ancestors.
    package var inverse: String?
    /// The entity that the source names for the inverse; nil means the destination.
    package var inverseEntity: String?
    package var isOptional = false
    package var isTransient = false
    package var isOrdered = false
    package var isIndexedBySpotlight = false
    package var minCount = 0
    /// 0 means without limit.
    package var maxCount = 0
    package var deleteRule = DeleteRule.nullify
    package var renamingIdentifier: String?
    package var versionHashModifier: String?
    package var userInfo: [String: Constant] = [:]

    package init(name: String, destination: String) {
        self.name = name
        self.destination = destination
    }

    package var isToMany: Bool { maxCount != 1 }

    /// `NSDeleteRule`; the raw values are those of the archive.
    package enum DeleteRule: Int, Hashable, Sendable {
        case noAction = 0
        case nullify = 1
        case cascade = 2
        case deny = 3
    }
}

/// A fetched property: never stored, never hashed, carried into the model cache.
package struct FetchedProperty: Hashable, Sendable {
    package var name: String
    package var isOptional = false
    package var fetchEntity: String?
    package var predicate: Predicate?
    package var renamingIdentifier: String?
    package var userInfo: [String: Constant] = [:]

    package init(name: String) {
        self.name = name
    }
}

/// A fetch index (iOS 11 and newer).
package struct FetchIndex: Hashable, Sendable {
    package var name: String
    package var elements: [Element]
    package var partialPredicate: Predicate?

    package init(name: String, elements: [Element], partialPredicate: Predicate? = nil) {
        self.name = name
        self.elements = elements
        self.partialPredicate = partialPredicate
    }

    package var isRTree: Bool { elements.contains { $0.kind == .rTree } }

    package struct Element: Hashable, Sendable {
        package var indexed: Indexed
        package var kind: Kind
        package var isAscending: Bool

        package init(_ indexed: Indexed, kind: Kind = .binary, isAscending: Bool = true) {
            self.indexed = indexed
            self.kind = kind
            self.isAscending = isAscending
        }
    }

    /// What an element indexes. In real models only the expressions `self` (`Z_PK`) and `entity` (`Z_ENT`) occur.
    package enum Indexed: Hashable, Sendable {
        case property(String)
        case expression(name: String, Expression)
    }

    /// `NSFetchIndexElementType`; the raw values are those of the archive.
    package enum Kind: Int, Hashable, Sendable {
        case binary = 0
        case rTree = 1
    }
}
