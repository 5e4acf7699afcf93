package import CausewayExpressions

/// Turns expressions and predicates into closures, and checks them against the model while it does.
package struct ExpressionCompiler {
    let evaluated: VariableType?
    let variables: [String: VariableType]
    let functions: any FunctionCatalog

    /// - Parameters:
    ///   - evaluated: What `SELF` and bare key paths refer to; nil where there is nothing.
    ///   - variables: By name without the dollar sign; any other variable is an error.
    ///   - functions: What `FUNCTION($manager, …)` and the like may call.
    package init(
        evaluated: VariableType?, variables: [String: VariableType] = [:], functions: any FunctionCatalog = NoFunctions()
    ) {
        self.evaluated = evaluated
        self.variables = variables
        self.functions = functions
    }

    /// Checks and prepares an expression.
    ///
    /// - Throws: `CompilationError` with the place.
    package func compile(_ expression: Expression) throws(CompilationError) -> CompiledExpression {
        throw CompilationError(.unsupported, "unfinished")
    }

    /// Checks and prepares a predicate.
    ///
    /// - Throws: `CompilationError` with the place.
    package func compile(_ predicate: Predicate) throws(CompilationError) -> CompiledPredicate {
        throw CompilationError(.unsupported, "unfinished")
    }
}
