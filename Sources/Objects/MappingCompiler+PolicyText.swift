import CausewayEvaluation
import CausewayExpressions
import CausewayPlanning

extension MappingCompiler {
    /// Compiles a policy's own text.
    func compile(
        _ text: String, source: String?, destination: String?, place: String
    ) throws(ObjectError) -> CompiledExpression {
        do {
            return try compile(try Expression(parsing: text), source: source, destination: destination)
        } catch {
            throw ObjectError(.type, "\(place): the rewritten expression can't be used: \(error)")
        }
    }
}
