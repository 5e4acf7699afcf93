import CausewayExpressions
import CausewayModel

/// A key path being compiled: the steps so far and what they lead to.
struct CompiledPath {
    var steps: [PathStep] = []
    var type: ValueType
    /// The stored properties walked through; nil once there was anything else.
    var handles: [PropertyHandle]? = []
    /// The to-many relationship that the last step reads; its members needn't be read to be counted.
    var lastToMany: PropertyHandle?

    mutating func append(_ type: ValueType, _ step: @escaping PathStep) {
        steps.append(step)
        self.type = type
        handles = nil
        lastToMany = nil
    }

    /// The to-many that the last step reads is counted instead.
    mutating func count(_ relationship: PropertyHandle) {
        steps.removeLast()
        append(.number) { (value, scope) throws(EvaluationError) in
            guard let object = try Compilation.object(value) else { return .null }
            return .integer(Int64(try scope.graph(of: object).count(of: relationship, in: object)))
        }
    }
}

extension Compilation {
    func keyPath(_ operand: Expression, _ text: String) throws(CompilationError) -> Operand {
        let base = try inside("object of “\(text)”") { (deeper) throws(CompilationError) in try deeper.base(operand) }
        if case .receiver(let receiver) = base.type { return try receiverPath(receiver, text) }
        let path = try path(text, from: base.type)
        let walk = Self.walk(path.steps)
        var result = Operand(type: path.type) { [run = base.run] (scope) throws(EvaluationError) in
            try walk(run(scope), scope)
        }
        if case .path(let root, []) = base.shape, let handles = path.handles { result.shape = .path(root, handles) }
        if case .variable(let name) = operand, case .any = base.type, !locals.contains(where: { $0.name == name }) {
            // A variable without a value of its own may be bound by key path.
            result.run = { (scope) throws(EvaluationError) in
                if let value = scope.bindings["\(name).\(text)"] { return value }
                guard let value = scope.bindings[name] else { throw Self.unbound(name) }
                return try walk(value, scope)
            }
        }
        return result
    }

    /// `$entityMapping.name` calls `name`, `$entityMapping.userInfo.key` calls `valueForKeyPath:` where there is one.
    private func receiverPath(_ receiver: FunctionReceiver, _ text: String) throws(CompilationError) -> Operand {
        let keys = try components(text)
        if compiler.functions.hasFunction(keys[0], on: receiver, argumentCount: 0) {
            let rest = try path(keys.dropFirst(), from: .any)
            let walk = Self.walk(rest.steps)
            let selector = keys[0]
            return Operand(type: keys.count == 1 ? .any : rest.type) { (scope) throws(EvaluationError) in
                try walk(scope.call(selector, on: receiver, []), scope)
            }
        }
        let title = ValueType.receiver(receiver).summary
        let known = ["name", "sourceEntityName", "destinationEntityName"].filter {
            compiler.functions.hasFunction($0, on: receiver, argumentCount: 0)
        }
        let hasInfo = compiler.functions.hasFunction("valueForKeyPath:", on: receiver, argumentCount: 1)
        guard hasInfo, keys[0] == "userInfo" else {
            let hint = Spelling.hint(keys[0], among: known + (hasInfo ? ["userInfo"] : []))
            throw CompilationError(.unknownKey, "\(title) has no key `\(keys[0])`\(hint)", name: keys[0])
        }
        guard keys.count > 1 else {
            throw CompilationError(
                .type, "`userInfo` of \(title) is no value: write one of its keys after it, as in `userInfo.key`",
                name: keys[0])
        }
        return Operand(type: .any) { (scope) throws(EvaluationError) in
            try scope.call("valueForKeyPath:", on: receiver, [.string(text)])
        }
    }

    func components(_ text: String) throws(CompilationError) -> [String] {
        let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard keys.count <= EvaluationLimits.depth, !keys.contains("") else {
            throw CompilationError(.unknownKey, "The key path “\(text)” has an empty key, or too many keys")
        }
        return keys
    }

    func path(_ text: String, from type: ValueType) throws(CompilationError) -> CompiledPath {
        try path(components(text)[...], from: type)
    }

    func path(_ keys: ArraySlice<String>, from type: ValueType) throws(CompilationError) -> CompiledPath {
        var path = CompiledPath(type: type)
        var rest = keys
        while let key = rest.popFirst() {
            if key.hasPrefix("@") {
                finish(&path)
                try add(operator: key, rest, to: &path)
                return path
            }
            try add(key, to: &path)
        }
        finish(&path)
        return path
    }

    /// Runs the steps one after the other.
    static func walk(_ steps: [PathStep]) -> PathStep {
        switch steps.count {
        case 0: return { (value, _) throws(EvaluationError) in value }
        case 1: return steps[0]
        default:
            return { (value, scope) throws(EvaluationError) in
                var value = value
                for step in steps { value = try step(value, scope) }
                return value
            }
        }
    }

    // MARK: - Operators

    private func add(
        operator name: String, _ rest: ArraySlice<String>, to path: inout CompiledPath
    ) throws(CompilationError) {
        guard let operation = CollectionOperator(rawValue: name) else {
            let known = CollectionOperator.allCases.map(\.rawValue)
            throw CompilationError(
                .unknownKey, "There is no collection operator `\(name)`\(Spelling.hint(name, among: known))", name: name
            )
        }
        guard let element = path.type.element else {
            throw CompilationError(
                .type, "`\(name)` works on a collection, and this is \(path.type.summary)", name: name)
        }
        if operation == .count {
            guard rest.isEmpty else {
                throw CompilationError(.type, "Nothing can follow `@count`: write it last", name: name)
            }
            if let relationship = path.lastToMany {
                return path.count(relationship)
            }
        }
        let inner = try self.path(rest, from: element)
        switch (operation, inner.type) {
        case (.sum, .number), (.sum, .any), (.sum, .null), (.average, .number), (.average, .any), (.average, .null):
            break
        case (.sum, let type), (.average, let type):
            throw CompilationError(.type, "`\(name)` needs numbers, and this is \(type.summary)", name: name)
        default:
            if operation.isUnionOfCollections, inner.type.element == nil {
                throw CompilationError(
                    .type, "`\(name)` joins collections, and each member gives \(inner.type.summary)", name: name)
            }
        }
        let walk = Self.walk(inner.steps)
        path.append(operation.type(of: inner.type)) { (value, scope) throws(EvaluationError) in
            if value.isNull { return .null }
            var values: [Value] = []
            for member in try Self.members(value, of: operation.rawValue) { values.append(try walk(member, scope)) }
            return try operation.apply(values)
        }
    }
}
