import CausewayMapping
import CausewayModel

/// The steps of a path with their mappings, joined into runs that need no complete store in between.
struct StepChain {
    struct Version {
        var name: String
        var model: ManagedObjectModel
        var hashes: VersionHashes
    }

    /// Consecutive steps that run as one.
    struct Run {
        var versions: [String]
        /// Position of the first step on the path.
        var firstStep: Int
        var mapping: MappingModel
        var destination: ManagedObjectModel
    }

    let line: [Version]
    let fuses: Bool

    /// Infers every step's mapping; what can't be inferred is refused for all steps at once.
    func runs() throws(EngineError) -> [Run] {
        var runs: [Run] = []
        var refusals: [String] = []
        for (index, (from, to)) in zip(line, line.dropFirst()).enumerated() {
            let mapping: MappingModel
            do throws(InferenceError) {
                mapping = try MappingInference.infer(
                    from: from.model, to: to.model, step: index, hashes: (from.hashes, to.hashes))
            } catch {
                refusals += error.refusals.map { "\(from.name) → \(to.name): \($0)" }
                continue
            }
            if fuses, let last = runs.last, let composed = last.mapping.composed(with: mapping) {
                runs[runs.count - 1] = Run(
                    versions: last.versions + [to.name], firstStep: last.firstStep, mapping: composed,
                    destination: to.model)
            } else {
                runs.append(
                    Run(versions: [from.name, to.name], firstStep: index, mapping: mapping, destination: to.model))
            }
        }
        guard refusals.isEmpty else {
            throw EngineError(
                .plan, "the mapping can't be inferred", details: refusals,
                remedy: "change the model, add a mapping model, or route around the version with --next")
        }
        return runs
    }
}
