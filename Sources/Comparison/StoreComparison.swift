public import CausewayExamination

/// How two stores differ: names, counts and keys, never a row's content.
public struct StoreComparison: Hashable, Codable, Sendable {
    /// The first store.
    public var a: Side
    /// The second store.
    public var b: Side
    /// Whether rows were matched by content instead of by entity and primary key.
    public var isModuloKeys: Bool
    /// Entities whose version hashes differ, or that only one of the models has; sorted.
    public var modelDifferences: [String]
    /// Every entity of both stores, by name.
    public var entities: [Entity]
    /// Many-to-many relationships, whose links have a table of their own; with ``StoreComparison/isModuloKeys`` all
    /// relationships.
    public var relationships: [Links]
    /// Tables without entities: persistent history and the app's own.
    public var tables: [Table]
    /// With ``StoreComparison/isModuloKeys``: how often the links were followed; nil otherwise.
    public var rounds: Int?
    /// What isn't a difference of rows but worth knowing.
    public var notes: [String]

    /// Whether nothing differs. Notes don't count.
    public var isEqual = false

    var hasDifferences: Bool {
        !modelDifferences.isEmpty || entities.contains(where: \.differs) || relationships.contains(where: \.differs)
            || tables.contains(where: \.differs)
    }

    /// One of the two stores.
    public struct Side: Hashable, Codable, Sendable {
        /// The store's path, links resolved.
        public var store: String
        /// Its versions among the given models; empty without models.
        public var versions: [String]
        /// Whose model it was read with.
        public var modelOrigin: ModelOrigin
        /// Rows of all entities.
        public var rows: Int
    }

    /// Rows: how many, and the keys of the first ones.
    public struct Rows: Hashable, Codable, Sendable {
        /// Keys that are kept.
        public static let namedRows = 5

        /// How many there are.
        public private(set) var count = 0
        /// Z_PK of the first, at most five.
        public private(set) var keys: [Int64] = []

        init() {}

        mutating func add(_ key: Int64) {
            if count < Self.namedRows { keys.append(key) }
            count += 1
        }

        /// Rows that come in no order: the smallest keys are kept.
        mutating func add(_ rows: Int, smallest key: Int64) {
            count += rows
            keys = Array((keys + [key]).sorted().prefix(Self.namedRows))
        }
    }

    /// One entity, without its subentities.
    public struct Entity: Hashable, Codable, Sendable {
        /// The entity's name; in stores whose model is unknown, the one in Z_PRIMARYKEY.
        public var name: String
        /// Rows in the first store.
        public var rowsInA: Int
        /// Rows in the second store.
        public var rowsInB: Int
        /// Rows without a counterpart in the second store.
        public var onlyInA = Rows()
        /// Rows without a counterpart in the first store.
        public var onlyInB = Rows()
        /// With ``StoreComparison/isModuloKeys``: rows whose own values have a counterpart, but whose links don't; keys
        /// of the first store.
        public var linksOnlyInA = Rows()
        /// The same for the second store.
        public var linksOnlyInB = Rows()
        /// Properties whose values differ in matched rows, by name.
        public var properties: [Property] = []
        /// Properties that only the first store has.
        public var propertiesOnlyInA: [String] = []
        /// Properties that only the second store has.
        public var propertiesOnlyInB: [String] = []

        /// Whether anything differs.
        public var differs: Bool {
            [onlyInA, onlyInB, linksOnlyInA, linksOnlyInB].contains { $0.count > 0 } || !properties.isEmpty
                || !propertiesOnlyInA.isEmpty || !propertiesOnlyInB.isEmpty
        }
    }

    /// A property whose values differ.
    public struct Property: Hashable, Codable, Sendable {
        /// The property's name; of a composite's leaf `composite.leaf`, of a column without property the column's.
        public var name: String
        /// What it is.
        public var kind: Kind
        /// Matched rows in which it differs, keys of the first store. With ``StoreComparison/isModuloKeys`` rows can't
        /// be matched one by one: then only the name is known, and the count is 0.
        public var rows = Rows()
        /// In how many of these rows the values have different storage classes, such as an integer and a text.
        public var storageClasses = 0
    }

    /// What a compared column holds.
    public enum Kind: String, Hashable, Codable, Sendable, Comparable {
        /// An attribute's value.
        case attribute
        /// An attribute that may be stored in a file: the data are compared, not where they are.
        case external
        /// A to-one relationship: the target's entity and key.
        case toOne
        /// The row's place in an ordered relationship.
        case place
        /// A Z_ENT beside a key, in stores whose model is unknown.
        case entityNumber
        /// A column that the model doesn't know.
        case column

        /// By name.
        public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The links of one relationship.
    public struct Links: Hashable, Codable, Sendable {
        /// `Entity.relationship`.
        public var name: String
        /// `Entity.relationship` of the other side; nil where there is none.
        public var inverse: String?
        /// Links in the first store.
        public var countInA = 0
        /// Links in the second store.
        public var countInB = 0
        /// Links that only the first store has.
        public var onlyInA = 0
        /// The first of them: the keys at both ends.
        public var firstOnlyInA: [[Int64]] = []
        /// Links that only the second store has.
        public var onlyInB = 0
        /// The first of them: the keys at both ends.
        public var firstOnlyInB: [[Int64]] = []
        /// Links that both have, at different places in an ordered relationship.
        public var places = 0
        /// The first of them: the keys at both ends.
        public var firstPlaces: [[Int64]] = []
        /// Only one of the stores has such links, by its model.
        public var isMissing = false
        /// With ``StoreComparison/isModuloKeys``: as many links lead from or to rows that hold something else.
        public var endsDiffer = false

        /// Whether anything differs.
        public var differs: Bool {
            isMissing || endsDiffer || onlyInA > 0 || onlyInB > 0 || places > 0 || countInA != countInB
        }
    }

    /// A table without entities.
    public struct Table: Hashable, Codable, Sendable {
        /// The table's name.
        public var name: String
        /// Rows in the first store; nil where it lacks the table.
        public var rowsInA: Int?
        /// Rows in the second store; nil where it lacks the table.
        public var rowsInB: Int?
        /// Columns that only one of the two has, sorted.
        public var columns: [String] = []
        /// Whether rows differ in the columns that both have.
        public var rowsDiffer = false

        /// Whether anything differs.
        public var differs: Bool { rowsInA != rowsInB || !columns.isEmpty || rowsDiffer }
    }
}
