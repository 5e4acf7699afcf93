import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStores

/// The steps of a path with their mappings, fused into runs that need no complete store in between.
struct StepChain {
    /// How a run's rows get from one store into the next.
    enum Content {
        /// The mapping of all steps of the run, and the steps that it is composed of.
        case inferred(MappingModel, of: [InferredStep])
        /// One step's mapping models, in the order in which they run.
        case explicit([ResolvedMapping])
    }

    /// Consecutive steps that run as one.
    struct Run {
        var versions: [String]
        /// Position of the first step on the path.
        var firstStep: Int
        var content: Content
        var destination: ManagedObjectModel
        /// What its steps leave behind.
        var losses: [Loss] = []
        /// What every step changes.
        var changes: [StepChange] = []
        /// The handlers of a stage, which run on the finished rows first.
        var handlers: [StageHandler] = []
    }

    /// The versions to go through: those between may be left out for a mapping model.
    let line: [ModelHistory.Version]
    /// The stores to make where the migration is staged; nil: one for each step of the line.
    let staged: [StagedPath.Run]?
    let library: MappingLibrary
    let history: ModelHistory
    let fuses: Bool
    /// Whether bad rows are left out.
    let leavesRowsOut: Bool
    /// About mapping models that lead over versions.
    private let notices: [String]
    private let isShortened: Bool
    private let origins: [String: String]

    init(
        _ request: MigrationRequest, line: [ModelHistory.Version], staged: [StagedPath.Run]?, history: ModelHistory
    ) throws(EngineError) {
        self.staged = staged
        library = try MappingLibrary(
            given: request.mappings, besideModels: request.models, code: request.code,
            infersDespiteMismatch: request.infersDespiteMismatch)
        // Stages say themselves which versions they go through.
        (self.line, notices) = staged == nil ? library.shortened(line, in: history) : (line, [])
        isShortened = self.line.count < line.count
        self.history = history
        origins = request.origins
        fuses = request.fusesSteps
        leavesRowsOut = request.badRows == .quarantine
    }

    /// Finds or infers every step's mapping; failures of all steps are thrown at once.
    ///
    /// - Returns: the runs, and warnings about mapping models that aren't used.
    func runs() throws(EngineError) -> (runs: [Run], warnings: [String]) {
        var runs: [Run] = []
        let hops = hops()
        let selection = try library.selection(for: hops.map(\.mapped), in: history)
        var refusals: [String] = []
        var remedy = "change the model, add a mapping model, or route around the version with --next"
        var settled: Set<String> = []
        var origin = Origin()
        for (index, hop) in hops.enumerated() {
            let step = "\(hop.from.name) → \(hop.to.name)"
            // A step from a version to itself is a copy, even if mapping models would fit it.
            let explicit = hop.from.name == hop.to.name ? [] : selection.models[index]
            let link: Link
            if explicit.isEmpty {
                do throws(InferenceError) {
                    link = try inferred(hop, at: index, &origin)
                    if case .inferred(let mapping, _) = link.content { settled.formUnion(mapping.settledOrigins) }
                } catch {
                    refusals += error.refusals.map { "\(step): \($0)" }
                    refusals += spanning(hop, in: hops).map { "\(step): \($0)" }
                    origin.end()
                    continue
                }
            } else {
                do throws(MappingResolutionError) {
                    link = try self.explicit(explicit, hop, at: index, &origin)
                } catch {
                    refusals += error.problems.map { "\(step): \(error.name): \($0)" }
                    remedy = "fix the mapping model"
                    continue
                }
            }
            append(link, hop, at: index, to: &runs)
        }
        guard refusals.isEmpty else {
            throw EngineError(.plan, "the mapping can't be inferred or used", details: refusals, remedy: remedy)
        }
        try requireUsed(origins, by: settled)
        return (runs, notices + selection.warnings)
    }

    /// What was settled must have been open: a misspelt name would settle nothing without a word.
    private func requireUsed(_ origins: [String: String], by settled: Set<String>) throws(EngineError) {
        let unused = origins.filter { !settled.contains($0.key) }.sorted { $0.key < $1.key }
        guard !unused.isEmpty else { return }
        throw EngineError(
            .plan, "what is given as origin isn't open in any step of the path",
            details: unused.map { "--origin \($0.key)=\($0.value)" },
            remedy: "name an element for which the plan asks, as Entity or Entity.property, in the version that has it")
    }

    /// Adds to a refusal that a mapping model left out the versions in between, and how to go through them.
    func explaining<Value>(_ body: () throws(EngineError) -> Value) throws(EngineError) -> Value {
        do throws(EngineError) {
            return try body()
        } catch {
            guard error.kind == .plan, isShortened else { throw error }
            var error = error
            error.details += notices
            throw error
        }
    }

    /// The way from the store's own version to a step.
    private struct Origin {
        /// The mapping from there, as far as mappings were inferred.
        var before: MappingModel?
        /// Whether the store's values can be followed: behind a mapping model or a stage's handler, nobody knows which
        /// of them are left.
        var isTraced = true

        mutating func end() { (before, isTraced) = (nil, false) }
    }

    /// What one step does, what it leaves behind, and what it changes.
    private struct Link {
        var content: Content
        var losses: [Loss] = []
        var changes: [StepChange] = []
    }

    private func inferred(_ hop: Hop, at index: Int, _ origin: inout Origin) throws(InferenceError) -> Link {
        let (source, destination) = (hop.from.model, hop.to.model)
        let mapping = try MappingInference.infer(
            from: source, to: destination, step: index, hashes: (hop.from.hashes, hop.to.hashes),
            origins: origins)
        let trace = trace(to: hop, origin)
        let losses = LossReport(
            "\(hop.from.name) → \(hop.to.name)", mapping: mapping, source: source, destination: destination,
            before: origin.before, trace: trace)
        let changes = InferredChanges(
            step: index, mapping: mapping, source: source, destination: destination, trace: trace)
        origin.before = origin.before?.followed(by: mapping) ?? mapping
        if !hop.handlers.isEmpty { origin.isTraced = false }
        return Link(
            content: .inferred(
                mapping, of: [InferredStep(mapping: mapping, source: source, destination: destination)]),
            losses: losses.losses, changes: changes.changes)
    }

    private func explicit(
        _ models: [MappingModelDescription], _ hop: Hop, at index: Int, _ origin: inout Origin
    ) throws(MappingResolutionError) -> Link {
        let trace = trace(to: hop, origin)
        origin.end()
        let resolved = try models.map { model throws(MappingResolutionError) in
            try model.resolved(from: hop.from.versioned, to: hop.to.versioned, beside: models)
        }
        let losses = MappedLosses(
            "\(hop.from.name) → \(hop.to.name)", resolved, source: hop.from.model,
            destination: hop.to.model, trace: trace)
        let changes = ObjectChanges(
            step: index, resolved, source: hop.from.model, destination: hop.to.model, trace: trace)
        return Link(content: .explicit(resolved), losses: losses.losses, changes: changes.changes)
    }

    /// Finds in the store what a step reads; nil where it can't be followed.
    private func trace(to hop: Hop, _ origin: Origin) -> ContentTrace? {
        guard origin.isTraced else { return nil }
        return ContentTrace(
            store: line.first?.model ?? hop.from.model, source: hop.from.model, before: origin.before)
    }

    /// Mapping models that span a step which can't be inferred, and the options that would use them.
    private func spanning(_ hop: Hop, in hops: [Hop]) -> [String] {
        let order = history.graph.versions
        guard let from = order.firstIndex(of: hop.from.name), let to = order.firstIndex(of: hop.to.name) else {
            return []
        }
        return zip(library.entries, library.verdicts(hops.map(\.mapped), in: history)).compactMap { entry, verdict in
            guard case .elsewhere(let first, let last) = verdict, let start = order.firstIndex(of: first),
                let end = order.firstIndex(of: last), start <= from, to <= end
            else { return nil }
            let spans = "the mapping model \(entry.title) (\(first) → \(last)) spans this step"
            let isBefore = !line.contains { $0.name == first }
            if isBefore { return "\(spans), but begins before the store's version" }
            let isBeyond = !line.contains { $0.name == last }
            return "\(spans): \(isBeyond ? "--to \"\(last)\" " : "")--next \"\(first)=\(last)\" uses it"
        }
    }

    private struct Hop {
        var from: ModelHistory.Version
        var to: ModelHistory.Version
        var handlers: [StageHandler]

        var mapped: MappingHop { MappingHop(from: from.versioned, to: to.versioned) }
    }

    private func hops() -> [Hop] {
        guard let staged else { return zip(line, line.dropFirst()).map { Hop(from: $0, to: $1, handlers: []) } }
        return staged.compactMap { run in
            guard let from = line.first(where: { $0.name == run.from }),
                let to = line.first(where: { $0.name == run.to })
            else { return nil }
            return Hop(from: from, to: to, handlers: run.handlers)
        }
    }

    /// Whether the uniqueness of the last of these steps must be checked in its own rows: the next version doesn't
    /// demand it any more, or has fewer rows.
    private func asksInBetween(_ steps: [InferredStep], _ next: MappingModel, _ model: ManagedObjectModel) -> Bool {
        guard let last = steps.last else { return false }
        func constraints(_ model: ManagedObjectModel) -> Set<[String]> {
            Set(model.entities.values.flatMap { entity in entity.uniquenessConstraints.map { [entity.name] + $0 } })
        }
        let new = constraints(last.destination).subtracting(constraints(last.source))
        return !new.isSubset(of: constraints(model)) || (!new.isEmpty && leavesRowsOut && next.mayLeaveRowsOut)
    }

    private func append(_ link: Link, _ hop: Hop, at index: Int, to runs: inout [Run]) {
        if fuses, let last = runs.last, last.handlers.isEmpty, case .inferred(let earlier, let before) = last.content,
            case .inferred(let mapping, let steps) = link.content, !(leavesRowsOut && mapping.judgesLinks),
            !asksInBetween(before, mapping, hop.to.model), let composed = earlier.composed(with: mapping)
        {
            runs[runs.count - 1] = Run(
                versions: last.versions + [hop.to.name], firstStep: last.firstStep,
                content: .inferred(composed, of: before + steps), destination: hop.to.model,
                losses: last.losses + link.losses, changes: last.changes + link.changes, handlers: hop.handlers)
        } else {
            runs.append(
                Run(
                    versions: [hop.from.name, hop.to.name], firstStep: index, content: link.content,
                    destination: hop.to.model, losses: link.losses, changes: link.changes, handlers: hop.handlers))
        }
    }
}
