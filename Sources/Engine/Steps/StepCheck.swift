import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStores

/// The demands on the rows that a step reads.
struct StepCheck {
    private let run: StepRun

    init(_ run: StepRun) {
        self.run = run
    }

    /// All of them.
    var preflight: Preflight {
        var preflight = Preflight(
            steps: [run.origin], source: run.source,
            makesObjects: run.origin.objects != nil || !run.handlers.isEmpty, deciders: [[]])
        preflight.badRows = run.badRows
        preflight.stopsAtViolations = run.validation == .stop
        preflight.told = run.told
        preflight.countsLinks = !run.isFirst && run.origin.objects?.carriesLinks != true
        preflight.external = run.isFirst ? run.external : nil
        preflight.copiesFiles = run.copiesFiles
        preflight.fates = ReferenceFates(steps: run.before + [run.step] + run.following)
        preflight.endsLinks = run.endsLinks
        return preflight
    }

    /// Where pages are read, the first bad page or row ends the step. The whole check, made now, names all of them.
    ///
    /// - Parameter error: why the step has ended.
    /// - Returns: what is wrong with the store that the step reads; the error itself where nothing is.
    func explained(_ error: EngineError) -> EngineError {
        // What was made of a damaged page is damaged too, and a later step's store is this run's own work.
        let isCopied = run.isFirst && (error.kind == .verification || error.isDamage)
        guard error.kind == .sourceData || isCopied, !error.isFailedSync || error.isDamage,
            !run.origin.tablesOfPages.isEmpty || isCheckedLater
        else { return error }
        let found: EngineError
        do throws(EngineError) {
            try run.cancellation.interrupting(run.source.connection.interruptHandle) { () throws(EngineError) in
                if run.isFirst { try checkIntegrity(after: error) }
                var preflight = preflight
                preflight.countsLinks = false
                _ = try preflight.check()
            }
            return error
        } catch {
            found = error
        }
        // An interrupt, or a disk that fails now, explains nothing.
        return found.kind == .sourceData ? found : error
    }

    /// Whether SQLite hasn't looked at all pages of the store that the first step reads.
    private var isCheckedLater: Bool {
        run.isFirst && run.step.structureToCheck(after: run.before, of: run.source) != .whole
    }

    /// A damaged source: the details begin with what was found first.
    private func checkIntegrity(after first: EngineError) throws(EngineError) {
        do throws(EngineError) {
            try run.source.checkIntegrity()
        } catch {
            var error = error
            error.details = [first.message] + first.details + error.details
            throw error
        }
    }
}
