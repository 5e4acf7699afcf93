import CausewayExpressions

// Built-ins, and calls of functions on values and on the migration's objects.

extension Compilation {
    func builtIn(_ name: String, _ arguments: [Expression]) throws(CompilationError) -> Operand {
        switch name {
        case "now" where arguments.isEmpty: return Operand(type: .date) { .date($0.now) }
        case "castObject:toType:" where arguments.count == 2: return try cast(arguments[0], arguments[1])
        case "objectFrom:withIndex:" where arguments.count == 2: return try member(arguments[0], arguments[1])
        case "count:" where arguments.count == 1: return try count(arguments[0])
        default: break
        }
        if let reason = BuiltIn.refused[name] {
            throw CompilationError(.unsupported, "`\(name)` isn't supported. \(reason)", name: name)
        }
        guard let builtIn = BuiltIn.all[name] else {
            let known = Array(BuiltIn.all.keys) + ["now", "count:", "castObject:toType:"]
            throw CompilationError(
                .unknownFunction, "There is no built-in function `\(name)`\(Spelling.hint(name, among: known))",
                name: name)
        }
        guard builtIn.arguments.count == arguments.count else {
            throw CompilationError(
                .unknownFunction, "`\(name)` takes \(builtIn.arguments.count) arguments, not \(arguments.count)",
                name: name)
        }
        var operands: [Operand] = []
        for (index, argument) in arguments.enumerated() {
            let place = "argument \(index + 1) of \(name)"
            let operand = try part(place, argument)
            guard builtIn.arguments[index].accepts(operand.type) else {
                throw CompilationError(
                    .type, "`\(name)` takes \(builtIn.arguments[index].summary), not \(operand.type.summary)",
                    path: [place])
            }
            operands.append(operand)
        }
        let function = builtIn.run
        let constants = operands.compactMap(\.constant)
        if constants.count == operands.count {
            do throws(EvaluationError) {
                return Operand(constant: try function(constants), type: builtIn.result)
            } catch {
                throw CompilationError(.type, error.message, name: name)
            }
        }
        var type = builtIn.result
        if ["min:", "max:"].contains(name) { type = operands[0].type.element ?? .any }
        if name == "noindex:" { type = operands[0].type }
        let runs = operands.map(\.run)
        return Operand(type: type) { (scope) throws(EvaluationError) in try function(Self.values(runs, scope)) }
    }

    /// `count:(pages)` is `pages.@count`: the members aren't read.
    private func count(_ argument: Expression) throws(CompilationError) -> Operand {
        if case .keyPath(let operand, let path) = argument, !path.contains("@") {
            return try part("argument 1 of count:", .keyPath(operand: operand, path: path + ".@count"))
        }
        return try part("argument 1 of count:", .keyPath(operand: argument, path: "@count"))
    }

    private func cast(_ value: Expression, _ type: Expression) throws(CompilationError) -> Operand {
        let operand = try part("value of CAST", value)
        let known = CastTarget.allCases.map(\.rawValue)
        guard case .constant(.string(let name)) = type else {
            throw CompilationError(
                .unsupported, "CAST needs its type as a text: one of \(known.joined(separator: ", "))")
        }
        guard let target = CastTarget(rawValue: name) else {
            throw CompilationError(
                .unsupported, "CAST to \(name) isn't supported: use one of \(known.joined(separator: ", "))", name: name
            )
        }
        guard target.accepts(operand.type) else {
            throw CompilationError(.type, "\(operand.type.summary) can't be cast to \(name)", name: name)
        }
        if let constant = operand.constant {
            do throws(EvaluationError) {
                return Operand(constant: try target.apply(constant), type: target.type)
            } catch {
                throw CompilationError(.type, error.message, name: name)
            }
        }
        return Operand(type: target.type) { [run = operand.run] (scope) throws(EvaluationError) in
            try target.apply(run(scope))
        }
    }

    /// `collection[index]`: FIRST and LAST of nothing are NULL, a number past the end is an error.
    private func member(_ collection: Expression, _ index: Expression) throws(CompilationError) -> Operand {
        let operand = try part("collection of [ ]", collection)
        guard let element = operand.type.element else {
            throw CompilationError(.type, "[ ] takes a member of a collection, and this is \(operand.type.summary)")
        }
        let members = operand.run
        func taking(
            _ symbol: String, _ type: ValueType, _ take: @escaping @Sendable ([Value]) -> Value
        ) -> Operand {
            Operand(type: type) { (scope) throws(EvaluationError) in
                take(try Self.members(members(scope), of: symbol))
            }
        }
        switch index {
        case .firstElement: return taking("[FIRST]", element) { $0.first ?? .null }
        case .lastElement: return taking("[LAST]", element) { $0.last ?? .null }
        case .elementCount: return taking("[SIZE]", .number) { .integer(Int64($0.count)) }
        default:
            let place = try part("index of [ ]", index)
            switch place.type {
            case .number, .any, .null: break
            default: throw CompilationError(.type, "An index is a number, not \(place.type.summary)")
            }
            return Operand(type: element) { [place = place.run] (scope) throws(EvaluationError) in
                let collection = try members(scope)
                if collection.isNull { return .null }
                return try ObjectFunction.objectAtIndex.apply(collection, [place(scope)])
            }
        }
    }

    // MARK: - Functions on something

    func function(
        _ receiver: Expression, _ selector: String, _ arguments: [Expression]
    ) throws(CompilationError) -> Operand {
        let base = try inside("receiver of \(selector)") { (deeper) throws(CompilationError) in
            try deeper.base(receiver)
        }
        if selector == "valueForKey:" || selector == "valueForKeyPath:", arguments.count == 1 {
            switch arguments[0] {
            case .constant(.string(let path)), .keyPath(.evaluatedObject, let path):
                return try keyPath(receiver, path)
            default: break
            }
        }
        let colons = selector.utf8.count { $0 == UInt8(ascii: ":") }
        guard colons == arguments.count else {
            throw CompilationError(
                .unknownFunction, "`\(selector)` takes \(colons) arguments, not \(arguments.count)", name: selector)
        }
        var runs: [EvaluationStep] = []
        for (index, argument) in arguments.enumerated() {
            runs.append(try part("argument \(index + 1) of \(selector)", argument).run)
        }
        if case .receiver(let kind) = base.type { return try call(selector, on: kind, runs) }
        if selector == "valueForKey:" || selector == "valueForKeyPath:" { return dynamicPath(base, runs[0]) }
        return try call(selector, on: base, runs, receiver)
    }

    static func values(_ runs: [EvaluationStep], _ scope: EvaluationScope) throws(EvaluationError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(runs.count)
        for run in runs { values.append(try run(scope)) }
        return values
    }

    private func call(
        _ selector: String, on receiver: FunctionReceiver, _ runs: [EvaluationStep]
    ) throws(CompilationError) -> Operand {
        guard compiler.functions.hasFunction(selector, on: receiver, argumentCount: runs.count) else {
            let advice =
                switch receiver {
                case .entityPolicy: ": register the function with the policy, and check its colons"
                default: ": check its name and its colons"
                }
            throw CompilationError(
                .unknownFunction, "\(ValueType.receiver(receiver).summary) has no function `\(selector)`\(advice)",
                name: selector)
        }
        return Operand(type: .any) { (scope) throws(EvaluationError) in
            try scope.call(selector, on: receiver, Self.values(runs, scope))
        }
    }

    /// A function on a value: a key, a method of strings and the like, or one that the catalog has for rows.
    private func call(
        _ selector: String, on base: Operand, _ runs: [EvaluationStep], _ receiver: Expression
    ) throws(CompilationError) -> Operand {
        let run = base.run
        let mayBeObject =
            switch base.type {
            case .object, .any, .null: true
            default: false
            }
        let hasOwn =
            mayBeObject && compiler.functions.hasFunction(selector, on: .object, argumentCount: runs.count)
        if let reason = ObjectFunction.refused[selector], !hasOwn {
            throw CompilationError(.unsupported, "`\(selector)` isn't supported. \(reason)", name: selector)
        }
        if let function = ObjectFunction(rawValue: selector), let type = function.type(on: base.type) {
            return Operand(type: hasOwn ? .any : type) { (scope) throws(EvaluationError) in
                let value = try run(scope)
                if hasOwn, case .object = value {
                    return try scope.call(selector, on: .object, [value] + Self.values(runs, scope))
                }
                return try function.apply(value, Self.values(runs, scope))
            }
        }
        if hasOwn {
            return Operand(type: .any) { (scope) throws(EvaluationError) in
                let value = try run(scope)
                return value.isNull ? .null : try scope.call(selector, on: .object, [value] + Self.values(runs, scope))
            }
        }
        // A method without arguments is a key.
        if runs.isEmpty {
            // On a collection it is the collection's own, never its members'.
            if case .collection = base.type {
                if let key = ValueKey(rawValue: selector), let type = key.type(on: base.type) {
                    return Operand(type: type) { (scope) throws(EvaluationError) in try key.apply(run(scope)) }
                }
            } else {
                return try keyPath(receiver, selector)
            }
        }
        let known = ObjectFunction.allCases.filter { $0.type(on: base.type) != nil }.map(\.rawValue)
        throw CompilationError(
            .unknownFunction,
            "\(base.type.summary) has no function `\(selector)`\(Spelling.hint(selector, among: known))", name: selector
        )
    }

    /// A key path that is computed.
    private func dynamicPath(_ base: Operand, _ path: @escaping EvaluationStep) -> Operand {
        Operand(type: .any) { [run = base.run] (scope) throws(EvaluationError) in
            guard case .string(let text) = try path(scope) else {
                throw EvaluationError(.type, "A key path is a string.")
            }
            var value = try run(scope)
            for key in text.split(separator: ".") {
                guard !key.hasPrefix("@") else {
                    throw EvaluationError(.type, "A computed key path can't have collection operators.")
                }
                value = try DynamicKey.value(String(key), of: value, in: scope)
            }
            return value
        }
    }
}
