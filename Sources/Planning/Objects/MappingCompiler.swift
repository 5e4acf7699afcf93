package import CausewayEvaluation
package import CausewayExpressions

/// Compiles the expressions of entity mappings, with Core Data's six variables.
package struct MappingCompiler {
    let source: ModelSchema
    let destination: ModelSchema
    let functions: any FunctionCatalog

    package init(source: ModelSchema, destination: ModelSchema, functions: any FunctionCatalog) {
        self.source = source
        self.destination = destination
        self.functions = functions
    }

    private func compiler(_ from: String?, _ to: String?) -> ExpressionCompiler {
        var variables: [String: VariableType] = [
            "manager": .manager, "entityPolicy": .entityPolicy, "entityMapping": .entityMapping,
            "propertyMapping": .propertyMapping,
        ]
        if let from { variables["source"] = .object(source, entity: from) }
        if let to { variables["destination"] = .object(destination, entity: to) }
        return ExpressionCompiler(
            evaluated: from.map { .object(source, entity: $0) }, variables: variables, functions: functions)
    }

    /// Compiles an expression of a mapping between these entities.
    package func compile(
        _ expression: Expression, source: String?, destination: String?
    ) throws(CompilationError) -> CompiledExpression {
        try compiler(source, destination).compile(expression)
    }

    /// Compiles a filter on source objects.
    package func compile(_ predicate: Predicate, source: String) throws(CompilationError) -> CompiledPredicate {
        try compiler(source, nil).compile(predicate)
    }
}
