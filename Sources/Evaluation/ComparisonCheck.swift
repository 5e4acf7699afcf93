import CausewayExpressions

/// Whether the two sides of a comparison fit, as far as the model shows.
struct ComparisonCheck {
    let operation: ComparisonOperator
    let options: Predicate.Options

    private enum Kind {
        case number, string, date, data, uuid, uri, object, collection
        /// Nothing is known, or NULL.
        case any

        init(_ type: ValueType) {
            switch type {
            case .number: self = .number
            case .string, .entity: self = .string
            case .date: self = .date
            case .data: self = .data
            case .uuid: self = .uuid
            case .uri: self = .uri
            case .object, .objectID: self = .object
            case .collection: self = .collection
            case .any, .null, .composite, .receiver: self = .any
            }
        }

        var isOrdered: Bool { [.number, .string, .date, .any].contains(self) }
    }

    func check(_ left: ValueType, _ right: ValueType) throws(CompilationError) {
        switch operation {
        case .equalTo, .notEqualTo: try same(left, right)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: try ordered(left, right)
        case .between:
            guard let bound = right.element else {
                throw error("BETWEEN needs {low, high} on the right, not \(right.summary)")
            }
            try ordered(left, bound)
        case .in: try member(left, of: right)
        case .contains: try member(right, of: left)
        case .beginsWith, .endsWith, .like, .matches:
            for type in [left, right] where Kind(type) != .string && Kind(type) != .any {
                throw error("\(operation.symbol) compares strings, not \(type.summary)\(advice(type))")
            }
        }
    }

    private func same(_ left: ValueType, _ right: ValueType) throws(CompilationError) {
        let (first, second) = (Kind(left), Kind(right))
        guard first != second, first != .any, second != .any else { return }
        throw error("\(left.summary) never equals \(right.summary)\(advice(left, right))")
    }

    private func ordered(_ left: ValueType, _ right: ValueType) throws(CompilationError) {
        if options.contains(.localeSensitive) {
            throw CompilationError(
                .unsupported, "The order of [l] depends on the device's language: leave the option out")
        }
        for type in [left, right] where !Kind(type).isOrdered {
            throw error("\(operation.symbol) compares numbers, strings or dates, not \(type.summary)\(advice(type))")
        }
        let (first, second) = (Kind(left), Kind(right))
        guard first == second || first == .any || second == .any else {
            throw error("\(left.summary) can't be compared with \(right.summary)\(advice(left, right))")
        }
    }

    private func member(_ member: ValueType, of container: ValueType) throws(CompilationError) {
        switch Kind(container) {
        case .any: return
        case .collection: if let element = container.element { try same(member, element) }
        case .string:
            guard Kind(member) == .string || Kind(member) == .any else {
                throw error("A string contains strings, not \(member.summary)")
            }
        default: throw error("\(operation.symbol) searches a collection or a string, not \(container.summary)")
        }
    }

    private func error(_ message: String) -> CompilationError { CompilationError(.type, message) }

    private func advice(_ types: ValueType...) -> String {
        let kinds = types.map(Kind.init)
        if kinds.contains(.collection) { return ": write ANY or ALL before it, or use @count" }
        if kinds.contains(.date), kinds.contains(.number) { return ": write CAST(number, \"NSDate\")" }
        if kinds.contains(.uuid), kinds.contains(.string) { return ": write CAST(text, \"NSUUID\")" }
        if kinds.contains(.uri), kinds.contains(.string) { return ": write url.absoluteString" }
        if kinds == [.uri] { return ": write url.absoluteString" }
        if kinds == [.number] { return ": write CAST(number, \"NSString\")" }
        if kinds.contains(.object) { return ": name one of its attributes" }
        return ""
    }
}
