import CausewayModel
import CausewayStoreFormat
import CausewayStores

extension StoreInspection {
    /// An attribute.
    public struct Attribute: Hashable, Codable, Sendable {
        /// Its name.
        public var name: String
        /// As Core Data's editor names it: `String`, `Integer 64`, `Date`, `Transformable`, `Composite`, …
        public var type: String
        /// Whether it may be nil.
        public var isOptional: Bool
        /// Whether it has no column.
        public var isTransient: Bool
        /// Whether large values are kept in files of their own.
        public var isStoredExternally: Bool
        /// The default as an expression; nil where there is none.
        public var defaultValue: String?
        /// What a derived attribute is computed from; nil for others.
        public var derivation: String?
        /// The transformer of a transformable; nil for the default one, and for others.
        public var transformer: String?
        /// The elements of a composite; nil for others.
        public var elements: [Attribute]?
    }

    /// A relationship.
    public struct Relationship: Hashable, Codable, Sendable {
        /// Its name.
        public var name: String
        /// The entity that it leads to.
        public var destination: String
        /// Whether it may lead to several objects.
        public var isToMany: Bool
        /// Whether its objects have an order.
        public var isOrdered: Bool
        /// Whether it may lead nowhere.
        public var isOptional: Bool
        /// Whether it isn't stored.
        public var isTransient: Bool
        /// The inverse's name in the destination; nil where there is none.
        public var inverse: String?
        /// `No Action`, `Nullify`, `Cascade` or `Deny`.
        public var deleteRule: String
    }

    /// The size of a table or an index.
    public struct ObjectSize: Hashable, Codable, Sendable {
        /// Its name.
        public var name: String
        /// `table` or `index`.
        public var kind: String
        /// The table that an index belongs to; a table's own name.
        public var table: String
        /// Pages that hold it.
        public var pages: Int
        /// Bytes of these pages.
        public var bytes: Int
    }
}

extension StoreInspection.Attribute {
    init(_ attribute: CausewayModel.Attribute) {
        name = attribute.name
        type = attribute.type.modelName
        isOptional = attribute.isOptional
        isTransient = attribute.isTransient
        isStoredExternally = attribute.allowsExternalBinaryDataStorage
        defaultValue = attribute.defaultText
        derivation = attribute.derivationText
        transformer = attribute.valueTransformerName
        elements = attribute.type == .composite ? attribute.elements.map { Self($0) } : nil
    }
}

extension StoreInspection.Relationship {
    init(_ relationship: CausewayModel.Relationship) {
        name = relationship.name
        destination = relationship.destination
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered
        isOptional = relationship.isOptional
        isTransient = relationship.isTransient
        inverse = relationship.inverse
        deleteRule = relationship.deleteRule.word
    }
}

extension StoreInspection.ObjectSize {
    init(_ size: CausewayStores.ObjectSize) {
        name = size.object.name
        kind = size.object.kind.rawValue
        table = size.object.table
        pages = size.pages
        bytes = size.bytes
    }
}
