/// The type of a variable when an expression is checked.
package enum VariableType: Sendable {
    /// One row: `$source`, `$destination`, `SELF`. Its entity or one that inherits from it.
    case object(ModelSchema, entity: String)
    /// Rows of one entity, as a set.
    case objects(ModelSchema, entity: String)
    case manager, entityPolicy, entityMapping, propertyMapping
    /// Something that isn't known until the expression runs: an app's own variable, `$query`, `$FETCH_SOURCE`.
    case any
}

/// What a function of the app's or of the engine's is called on.
package enum FunctionReceiver: Hashable, Sendable {
    case manager, entityPolicy, entityMapping, propertyMapping
    /// A row; it is the first of the arguments that `FunctionTarget` gets.
    case object
}

/// The known functions; used while compiling, so that an unknown selector is a planning error.
package protocol FunctionCatalog {
    /// Whether the receiver has a function of that selector, colons included
    /// (`destinationInstancesForEntityMappingNamed:sourceInstances:`); the receiver isn't counted as an argument.
    func hasFunction(_ selector: String, on receiver: FunctionReceiver, argumentCount: Int) -> Bool
}

/// Runs the functions that a catalog has promised.
package protocol FunctionTarget: AnyObject {
    /// Runs one function. For `.object` the row that it's called on is `arguments[0]`.
    ///
    /// An error other than `EvaluationError` becomes one with code `function`.
    func call(_ selector: String, on receiver: FunctionReceiver, _ arguments: [Value]) throws -> Value
}

/// No functions at all: for filters, validation and handlers' predicates.
package struct NoFunctions: FunctionCatalog, Sendable {
    package init() {}

    package func hasFunction(_ selector: String, on receiver: FunctionReceiver, argumentCount: Int) -> Bool { false }
}
