package import CausewayExpressions

/// Turns expressions and predicates into closures, and checks them against the model while it does.
///
/// Decisions that the language leaves open:
/// - NULL in comparisons: `NullRule.sql` in predicates, `NullRule.memory` in expressions. Arithmetic and the functions
///   of numbers and strings give NULL for NULL, a key of NULL is NULL.
/// - Keys of to-many relationships follow key-value coding: nulls and duplicates are dropped, as sets do it; a to-many
///   of a to-many is a collection of collections, joined by `@distinctUnionOfSets`.
/// - Within `SUBQUERY`, `SELF` and bare keys are those of the object outside.
/// - A type that the model shows to be wrong is an error here, even where Foundation would answer NO for every row.
package struct ExpressionCompiler {
    let evaluated: VariableType?
    let variables: [String: VariableType]
    let functions: any FunctionCatalog

    /// - Parameters:
    ///   - evaluated: What `SELF` and bare key paths refer to; nil for nothing.
    ///   - variables: By name without the dollar sign; any other variable is an error.
    ///   - functions: What `FUNCTION($manager, …)` and the like may call.
    package init(
        evaluated: VariableType?, variables: [String: VariableType] = [:],
        functions: any FunctionCatalog = NoFunctions()
    ) {
        self.evaluated = evaluated
        self.variables = variables
        self.functions = functions
    }

    /// Checks and prepares an expression.
    ///
    /// - Throws: `CompilationError` with the place.
    package func compile(_ expression: Expression) throws(CompilationError) -> CompiledExpression {
        do throws(CompilationError) {
            let operand = try Compilation(compiler: self, nulls: .memory).operand(expression)
            var compiled = CompiledExpression(shape: operand.shape, type: operand.type, run: operand.run)
            var scalar = ScalarCompilation(self, nulls: .memory)
            compiled.scalar = scalar?.program(expression)
            return compiled
        } catch {
            throw error.located(in: expression.formatString)
        }
    }

    /// Checks and prepares a predicate that chooses rows.
    ///
    /// - Throws: `CompilationError` with the place.
    package func compile(_ predicate: Predicate) throws(CompilationError) -> CompiledPredicate {
        do throws(CompilationError) {
            let condition = try Compilation(compiler: self, nulls: .sql).condition(predicate)
            var compiled = CompiledPredicate(constant: condition.constant, run: condition.run)
            var scalar = ScalarCompilation(self, nulls: .sql)
            compiled.scalar = scalar?.program(predicate)
            return compiled
        } catch {
            throw error.located(in: predicate.formatString)
        }
    }
}

/// A part of an expression, made ready.
struct Operand: Sendable {
    var run: EvaluationStep
    var type: ValueType
    var shape = CompiledExpression.Shape.general
    /// The value that it always has; nil where it depends on the row.
    var constant: Value?

    init(type: ValueType, shape: CompiledExpression.Shape = .general, run: @escaping EvaluationStep) {
        self.run = run
        self.type = type
        self.shape = shape
    }

    init(constant value: Value, type: ValueType? = nil) {
        run = { _ in value }
        self.type = type ?? ValueType(of: value)
        constant = value
        shape = Constant(value).map(CompiledExpression.Shape.constant) ?? .general
    }
}

/// One expression being compiled: the compiler, and where in the tree we are.
struct Compilation {
    let compiler: ExpressionCompiler
    let nulls: NullRule
    /// The variables of the subqueries around, outermost first; the place is the slot in `EvaluationScope.locals`.
    var locals: [(name: String, type: ValueType)] = []
    var depth = 0

    /// A part of an expression that must have a value.
    func operand(_ expression: Expression) throws(CompilationError) -> Operand {
        let operand = try base(expression)
        if case .receiver = operand.type {
            throw CompilationError(
                .type, "\(operand.type.summary) has functions and keys, but isn't a value that can be used here",
                name: Self.variable(expression) ?? "")
        }
        return operand
    }

    /// A part of the current part; an error tells the place.
    func part(_ place: String, _ expression: Expression) throws(CompilationError) -> Operand {
        try inside(place) { (deeper) throws(CompilationError) in try deeper.operand(expression) }
    }

    func part(_ place: String, _ predicate: Predicate) throws(CompilationError) -> Condition {
        try inside(place) { (deeper) throws(CompilationError) in try deeper.condition(predicate) }
    }

    func inside<T>(
        _ place: String, _ compile: (Compilation) throws(CompilationError) -> T
    ) throws(CompilationError) -> T {
        var deeper = self
        deeper.depth += 1
        guard deeper.depth <= EvaluationLimits.depth else {
            throw CompilationError(
                .limitExceeded, "The expression nests deeper than \(EvaluationLimits.depth) levels: split it")
        }
        do throws(CompilationError) {
            return try compile(deeper)
        } catch {
            var placed = error
            placed.path.insert(place, at: 0)
            throw placed
        }
    }

    /// What may have keys and functions: a value, or one of `$manager` and the like.
    func base(_ expression: Expression) throws(CompilationError) -> Operand {
        switch expression {
        case .evaluatedObject:
            guard let evaluated = compiler.evaluated else {
                throw CompilationError(
                    .unknownVariable, "There is no object here that SELF or a bare key could mean: write $source.key",
                    name: "SELF")
            }
            return Operand(type: ValueType(evaluated), shape: .path(.evaluated, [])) { $0.evaluated }
        case .constant(let constant): return try self.constant(constant)
        case .variable(let name): return try variable(name)
        case .keyPath(let operand, let path): return try keyPath(operand, path)
        case .function(nil, let name, let arguments): return try builtIn(name, arguments)
        case .function(let receiver?, let name, let arguments): return try function(receiver, name, arguments)
        case .aggregate(let elements): return try aggregate(elements)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable, predicate)
        case .set(let operation, let left, let right): return try set(operation, left, right)
        case .conditional(let predicate, let first, let second): return try conditional(predicate, first, second)
        case .fetch:
            throw CompilationError(
                .unsupported,
                "FETCH gives the rows of an entity mapping's source, and can't be part of a value: "
                    + "use a relationship, or a policy")
        }
    }

    // MARK: - Leaves

    private func constant(_ constant: Constant) throws(CompilationError) -> Operand {
        guard let value = Value(constant) else {
            throw CompilationError(
                .unsupported, "The literal is a dictionary or an object of the app's own class: write it as a policy")
        }
        var operand = Operand(constant: value)
        operand.shape = .constant(constant)
        return operand
    }

    private func variable(_ name: String) throws(CompilationError) -> Operand {
        if let slot = locals.lastIndex(where: { $0.name == name }) {
            return Operand(type: locals[slot].type) { (scope) throws(EvaluationError) in
                guard scope.locals.indices.contains(slot) else { throw Self.unbound(name) }
                return scope.locals[slot]
            }
        }
        guard let type = compiler.variables[name] else {
            let known = Array(compiler.variables.keys) + locals.map(\.name)
            throw CompilationError(
                .unknownVariable,
                "There is no variable $\(name) here\(Spelling.hint("$\(name)", among: known.map { "$\($0)" }))",
                name: name)
        }
        let shape = CompiledExpression.Shape.path(.variable(name), [])
        switch name {
        case "source": return Operand(type: ValueType(type), shape: shape) { $0.source }
        case "destination": return Operand(type: ValueType(type), shape: shape) { $0.destination }
        default:
            return Operand(type: ValueType(type), shape: shape) { (scope) throws(EvaluationError) in
                guard let value = scope.bindings[name] else { throw Self.unbound(name) }
                return value
            }
        }
    }

    static func unbound(_ name: String) -> EvaluationError {
        EvaluationError(.missing, "The variable $\(name) has no value.")
    }

    private static func variable(_ expression: Expression) -> String? {
        if case .variable(let name) = expression { name } else { nil }
    }

    // MARK: - Composites

    private func aggregate(_ elements: [Expression]) throws(CompilationError) -> Operand {
        guard elements.count <= EvaluationLimits.collectionCount else {
            throw CompilationError(
                .limitExceeded, "The list has more than \(EvaluationLimits.collectionCount) members")
        }
        var operands: [Operand] = []
        for (index, element) in elements.enumerated() {
            operands.append(try part("member \(index + 1) of the list", element))
        }
        let type = ValueType.collection(.array, of: ValueType.common(operands.map(\.type)))
        let constants = operands.compactMap(\.constant)
        if constants.count == operands.count { return Operand(constant: .collection(constants), type: type) }
        let runs = operands.map(\.run)
        return Operand(type: type) { (scope) throws(EvaluationError) in .collection(try Self.values(runs, scope)) }
    }

    private func subquery(
        _ collection: Expression, _ variable: String, _ predicate: Predicate
    ) throws(CompilationError) -> Operand {
        let collection = try part("collection of SUBQUERY", collection)
        guard let element = collection.type.element else {
            throw CompilationError(
                .type, "SUBQUERY searches a collection, and this is \(collection.type.summary)",
                path: ["collection of SUBQUERY"])
        }
        var inner = self
        inner.locals.append((variable, element))
        let slot = locals.count
        let test = try inner.part("condition of SUBQUERY", predicate)
        let (members, condition) = (collection.run, test.run)
        return Operand(type: collection.type) { (scope) throws(EvaluationError) in
            var found: [Value] = []
            for member in try Self.members(members(scope), of: "SUBQUERY") {
                if scope.locals.count > slot { scope.locals[slot] = member } else { scope.locals.append(member) }
                if try condition(scope) == .yes { found.append(member) }
            }
            return .collection(found)
        }
    }

    private func set(
        _ operation: Expression.SetOperation, _ left: Expression, _ right: Expression
    ) throws(CompilationError) -> Operand {
        let name = operation.word
        let left = try part("left side of \(name)", left)
        let right = try part("right side of \(name)", right)
        guard let first = left.type.element, let second = right.type.element else {
            throw CompilationError(
                .type, "\(name) joins collections, not \(left.type.summary) and \(right.type.summary)")
        }
        let type = ValueType.collection(.set, of: operation == .union ? .common([first, second]) : first)
        return Operand(type: type) { (scope) throws(EvaluationError) in
            let first = try Self.members(left.run(scope), of: name)
            let second = try Self.members(right.run(scope), of: name)
            if operation == .union { return try (first + second).distinct.collected() }
            let others = Set(second.map(DistinctKey.init))
            return .collection(first.distinct.filter { others.contains(DistinctKey($0)) == (operation == .intersect) })
        }
    }

    private func conditional(
        _ predicate: Predicate, _ first: Expression, _ second: Expression
    ) throws(CompilationError) -> Operand {
        let condition = try part("condition of TERNARY", predicate)
        let first = try part("first value of TERNARY", first)
        let second = try part("second value of TERNARY", second)
        if let constant = condition.constant { return constant ? first : second }
        return Operand(type: .common([first.type, second.type])) { (scope) throws(EvaluationError) in
            try condition.run(scope) == .yes ? try first.run(scope) : try second.run(scope)
        }
    }

    /// NULL has no members.
    static func members(_ value: Value, of name: String) throws(EvaluationError) -> [Value] {
        switch value {
        case .collection(let members): return members
        case .null: return []
        default: throw EvaluationError(.type, "\(name) needs a collection, not \(value.kindName).")
        }
    }
}
