package import CausewayPreparation

/// Where unfinished work resumes: the rest of the table.
///
/// | of a step there is | what happens |
/// |---|---|
/// | its record, and its store or that of a later step with a record | done |
/// | a record of a verification below the level that is asked for | record and store go; it starts over, with a warning |
/// | its record, and no store from here on | starts over |
/// | a store whose progress is of this plan | resumed, where the progress says |
/// | a store without a second page: nothing was committed | starts over |
/// | another store: torn, or of another plan | starts over, with a warning |
/// | nothing | begins |
///
/// One step begins or resumes; the files of later ones are removed first (`StepSequence`). Only an open store tells
/// whether it can be resumed (`StepRun`).
package struct StepRecovery: Hashable, Sendable {
    /// Of a step that has a record.
    package struct Facts: Hashable, Sendable {
        package var verification: VerificationLevel
        package var hasStore: Bool

        package init(verification: VerificationLevel, hasStore: Bool) {
            self.verification = verification
            self.hasStore = hasStore
        }
    }

    /// Steps that are done.
    package let done: Int
    /// The first step that was verified less thoroughly than is asked for.
    package let belowLevel: Int?

    /// - Parameters:
    ///   - found: of the first steps, up to the last with a record.
    ///   - level: how thoroughly they must have been verified.
    package init(_ found: [Facts], asked level: VerificationLevel) {
        belowLevel = found.firstIndex { $0.verification < level }
        let kept = found.prefix(belowLevel ?? found.count)
        done = kept.lastIndex(where: \.hasStore).map { $0 + 1 } ?? 0
    }
}
