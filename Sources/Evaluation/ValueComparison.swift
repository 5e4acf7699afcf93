/// Equality and order of values as Core Data's in-memory predicates have them.
enum ValueComparison {
    /// NULL equals NULL; numbers are equal by value whatever their type; strings by their bytes.
    static func equal(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.integer(let left), .integer(let right)): return left == right
        case (.string(let left), .string(let right)): return equal(left, right)
        case (.uri(let left), .uri(let right)): return equal(left, right)
        case (.object(let left), .object(let right)): return left == right
        case (.collection(let left), .collection(let right)):
            guard left.count == right.count else { return false }
            // Sets and arrays aren't told apart here; objects come from relationships, whose order has no meaning.
            if case .object? = left.first { return Set(left.map(DistinctKey.init)) == Set(right.map(DistinctKey.init)) }
            return zip(left, right).allSatisfy(equal)
        default:
            if let left = Number(left), let right = Number(right) { return Number.compare(left, right) == .equal }
            return left == right
        }
    }

    /// Byte by byte: Swift's own comparison takes é and e with an accent for equal.
    static func equal(_ left: String, _ right: String) -> Bool {
        left == right && left.utf8.elementsEqual(right.utf8)
    }

    /// Nil where one of them is NULL or NaN.
    ///
    /// - Throws: `type` for values that have no order.
    static func order(_ left: Value, _ right: Value) throws(EvaluationError) -> Order? {
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.integer(let left), .integer(let right)): return Order(left, right)
        case (.date(let left), .date(let right)): return Order(left, right)
        case (.string(let left), .string(let right)): return order(left, right)
        default:
            if let left = Number(left), let right = Number(right) { return Number.compare(left, right) }
            throw EvaluationError(
                .type, "\(left.kindName) and \(right.kindName) have no order: compare numbers, strings or dates.")
        }
    }

    /// By the UTF-8 bytes, which is the order of the code points and of SQLite.
    static func order(_ left: String, _ right: String) -> Order {
        if equal(left, right) { return .equal }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
    }
}

/// A value in a set: equal numbers of different types are one, canonically equivalent strings are two.
struct DistinctKey: Hashable {
    private enum Content: Hashable {
        case number(Number)
        case bytes([UInt8])
        case other(Value)
        case members([DistinctKey])
    }

    private let content: Content

    init(_ value: Value) {
        switch value {
        case .string(let text): content = .bytes(Array(text.utf8))
        case .collection(let members): content = .members(members.map(DistinctKey.init))
        default: content = Number(value).map { .number($0.canonical) } ?? .other(value)
        }
    }
}

extension [Value] {
    /// The members without repetition, each at its first place.
    var distinct: [Value] {
        var seen: Set<DistinctKey> = []
        seen.reserveCapacity(count)
        return filter { seen.insert(DistinctKey($0)).inserted }
    }

    /// The members as a collection.
    ///
    /// - Throws: `type` for more than `EvaluationLimits.collectionCount`.
    func collected() throws(EvaluationError) -> Value {
        guard count <= EvaluationLimits.collectionCount else {
            throw EvaluationError(
                .type, "The expression makes a collection of more than \(EvaluationLimits.collectionCount) members.")
        }
        return .collection(self)
    }
}

extension Value {
    /// For messages.
    var kindName: String {
        switch self {
        case .null: "NULL"
        case .boolean, .integer, .real, .decimal: "a number"
        case .string: "a string"
        case .date: "a date"
        case .data: "binary data"
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .object: "an object"
        case .collection: "a collection"
        }
    }
}
