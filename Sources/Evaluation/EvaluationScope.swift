/// The input of one run of an expression: the rows, their stores, the variables and the functions.
///
/// One per worker thread, changed from row to row; the compiled expressions are shared by all.
package final class EvaluationScope {
    /// `SELF`, and what a bare key path starts at.
    package var evaluated: Value = .null
    /// `$source`.
    package var source: Value = .null
    /// `$destination`.
    package var destination: Value = .null
    /// Where objects of the source side are read.
    package var sourceGraph: (any ObjectGraph)?
    /// Where objects of the destination side are read.
    package var destinationGraph: (any ObjectGraph)?
    /// All other variables, named without the dollar sign. What has no `Value` of its own can be bound by key path:
    /// `FETCHED_PROPERTY.userInfo.search`.
    package var bindings: [String: Value] = [:]
    package var functions: (any FunctionTarget)?
    /// What `now()` gives, in seconds since 2001-01-01: one time for the whole run, so that a run can be repeated.
    package let now: Double
    /// The variables of the subqueries that are being run, outermost first.
    var locals: [Value] = []

    package init(
        now: Double, sourceGraph: (any ObjectGraph)? = nil, destinationGraph: (any ObjectGraph)? = nil,
        functions: (any FunctionTarget)? = nil
    ) {
        self.now = now
        self.sourceGraph = sourceGraph
        self.destinationGraph = destinationGraph
        self.functions = functions
    }

    /// - Throws: `missing` where the object's store isn't part of this scope.
    func graph(of object: ObjectID) throws(EvaluationError) -> any ObjectGraph {
        switch object.side {
        case .source: if let sourceGraph { return sourceGraph }
        case .destination: if let destinationGraph { return destinationGraph }
        }
        throw EvaluationError(.missing, "The object with key \(object.key) is in a store that can't be read here.")
    }

    /// - Throws: what the function throws, as code `function`; `missing` where functions can't be called.
    func call(
        _ selector: String, on receiver: FunctionReceiver, _ arguments: [Value]
    ) throws(EvaluationError) -> Value {
        guard let functions else {
            throw EvaluationError(.missing, "The function `\(selector)` can't be called here.")
        }
        do {
            return try functions.call(selector, on: receiver, arguments)
        } catch let error as EvaluationError {
            throw error
        } catch {
            throw EvaluationError(.function, "The function `\(selector)` failed: \(error)", cause: error)
        }
    }
}
