package import CausewayExpressions

/// An expression made ready to run: immutable, shared by all workers.
package struct CompiledExpression: Sendable {
    /// What a planner can do without running the expression.
    package enum Shape: Hashable, Sendable {
        case constant(Constant)
        /// A key path of stored properties; all but the last are to-one relationships. A composite's leaf is one
        /// handle.
        case path(PathRoot, [PropertyHandle])
        case general
    }

    package enum PathRoot: Hashable, Sendable {
        case evaluated
        /// `$source` and the like, without the dollar sign.
        case variable(String)
    }

    package let shape: Shape
    /// The result's type according to the model.
    package let type: ValueType
    /// The same for numbers and dates; nil where it needs more.
    package internal(set) var scalar: ScalarProgram<Scalar>?
    let run: EvaluationStep

    init(shape: Shape, type: ValueType, run: @escaping EvaluationStep) {
        (self.shape, self.type, self.run) = (shape, type, run)
    }

    /// The value for what the scope holds.
    ///
    /// - Throws: `EvaluationError`; it names places, never values.
    package func evaluate(_ scope: EvaluationScope) throws(EvaluationError) -> Value { try run(scope) }
}

/// A filter made ready to run: immutable, shared by all workers. Its comparisons with NULL are unknown, as in SQL.
package struct CompiledPredicate: Sendable {
    /// Whether the answer is the same for every row; nil where it depends on the row.
    package let constant: Bool?
    /// The same for numbers and dates; nil where it needs more.
    package internal(set) var scalar: ScalarProgram<Bool?>?
    let run: EvaluationTest

    init(constant: Bool?, run: @escaping EvaluationTest) { (self.constant, self.run) = (constant, run) }

    /// True if the condition holds for what the scope holds; false if it doesn't, or if that is unknown.
    ///
    /// - Throws: `EvaluationError`; it names places, never values.
    package func evaluate(_ scope: EvaluationScope) throws(EvaluationError) -> Bool { try run(scope) == .yes }
}

typealias EvaluationStep = @Sendable (EvaluationScope) throws(EvaluationError) -> Value
typealias EvaluationTest = @Sendable (EvaluationScope) throws(EvaluationError) -> Truth
/// One step of a key path.
typealias PathStep = @Sendable (Value, EvaluationScope) throws(EvaluationError) -> Value
