import CausewayEvaluation
package import CausewayObjects
import CausewaySQLite

extension EngineError {
    /// An error of a hook, an expression or the object layer, with its location.
    ///
    /// - Parameters:
    ///   - error: what was thrown; a policy's own error is shown as it is.
    ///   - step: the versions.
    ///   - mapping: the entity mapping's name.
    ///   - row: the source or destination row's URI; nil outside of rows.
    package init(hook error: any Error, step: [String], mapping: String, row: String?) {
        if let error = error as? EngineError {
            self = error
            return
        }
        let place = [step.joined(separator: " → "), mapping, row].compactMap(\.self).joined(separator: ", ")
        // An expression that reads a row carries the row's error.
        var origin = error
        while let cause = (origin as? EvaluationError)?.cause { origin = cause }
        if let cause = (origin as? ObjectError)?.cause, cause.isOfSystem {
            self.init(writing: cause, during: place)
            return
        }
        // An error that isn't SQLite's is the policy's or the row's, and comes again in a rerun.
        self.init(
            .sourceData, "\(place): \(error)",
            remedy: "fix the policy or the mapping model, or the row in a copy of the store, then run again")
    }

    package init(_ error: ObjectError, during place: String) {
        if let cause = error.cause, cause.isOfSystem {
            self.init(writing: cause, during: place)
            return
        }
        self.init(.sourceData, "\(place): \(error.message)")
    }
}
