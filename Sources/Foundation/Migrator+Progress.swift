public import Causeway
public import Foundation

extension Migrator {
    /// Units of a `Progress` that are the whole migration.
    private static let units: Int64 = 1_000

    /// Migrates the store, and reports to a `Progress` of Foundation, as a window or an app's own tree of them shows.
    ///
    /// It counts in thousandths of the whole run, over all phases, and sets `estimatedTimeRemaining` as soon as that
    /// can be told. Cancelling the `Progress`, or the task, stops the migration: what is done is saved, the store is as
    /// it was, and the same call resumes.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: 1)
    /// bar.observedProgress = progress
    /// let summary = try await migrator.migrate(reportingTo: progress)
    /// ```
    ///
    /// - Parameters:
    ///   - progress: its total, its completed units, the time that is left and its handler of cancellation are set.
    ///   - events: called in order, one at a time, on one of the migration's threads or tasks; it should return
    ///     quickly.
    /// - Returns: what was done.
    /// - Throws: `MigrationError`; `interrupted` where it was cancelled.
    @discardableResult
    public func migrate(
        reportingTo progress: Progress, events: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) async throws(MigrationError) -> MigrationSummary {
        progress.totalUnitCount = Self.units
        let migrator = self
        let task = Task { () async -> Result<MigrationSummary, MigrationError> in
            do throws(MigrationError) {
                return .success(
                    try await migrator.migrate(tickingEvery: 0.5) { event in
                        if case .progress(let now) = event { Self.report(now, to: progress) }
                        events(event)
                    })
            } catch {
                return .failure(error)
            }
        }
        progress.cancellationHandler = { task.cancel() }
        if progress.isCancelled { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        progress.cancellationHandler = nil
        let summary = try result.get()
        progress.completedUnitCount = Self.units
        return summary
    }

    private static func report(_ now: MigrationProgress, to progress: Progress) {
        progress.completedUnitCount = Int64(now.fraction * Double(units))
        progress.setUserInfoObject(now.remainingSeconds, forKey: .estimatedTimeRemainingKey)
    }
}
