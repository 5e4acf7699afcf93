public import CausewayEvaluation

/// Which objects to fetch: what `NSFetchRequest` is.
///
/// ```swift
/// var request = FetchRequest("Post", where: "content CONTAINS $word", ["word": .string("swift")])
/// request.sort = [.init("date", ascending: false)]
/// ```
public struct FetchRequest: Hashable, Sendable {
    /// One key to sort by.
    public struct SortKey: Hashable, Sendable {
        /// An attribute of the entity.
        public var attribute: String
        /// Smallest first; NULL comes before everything.
        public var isAscending: Bool

        /// A sort key.
        ///
        /// - Parameters:
        ///   - attribute: an attribute of the entity.
        ///   - ascending: smallest first.
        public init(_ attribute: String, ascending: Bool = true) {
            self.attribute = attribute
            isAscending = ascending
        }
    }

    /// The entity's name.
    public var entityName: String
    /// A predicate in the language of `NSPredicate(format:)`; nil is every object. `$name` is a variable.
    public var predicate: String?
    /// The values of the predicate's variables, by name without the dollar sign.
    public var variables: [String: Value]
    /// Empty: by key, which is the order in which objects were made.
    public var sort: [SortKey] = []
    /// Objects of subentities too.
    public var includesSubentities = true
    /// Most objects; nil is all.
    public var fetchLimit: Int?
    /// Objects that are read, and written back, at a time.
    public var fetchBatchSize = 1_000

    /// A request.
    ///
    /// - Parameters:
    ///   - entityName: the entity's name.
    ///   - predicate: a predicate; nil is every object.
    ///   - variables: the values of the predicate's variables.
    public init(_ entityName: String, where predicate: String? = nil, _ variables: [String: Value] = [:]) {
        self.entityName = entityName
        self.predicate = predicate
        self.variables = variables
    }
}
