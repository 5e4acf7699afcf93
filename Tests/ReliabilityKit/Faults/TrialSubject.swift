internal import CausewayPlatform
internal import CausewayPreparation

/// A subject prepared for many trials: its source on disk, its command, and the result of an undisturbed run.
package struct TrialSubject: Sendable {
    package let subject: Subject
    package let executable: String
    /// The folder of the source; it is copied for every trial and never migrated itself.
    package let pristine: String
    package let oracle: StoreOracle
    /// Seconds that the undisturbed run took; random moments are chosen within it.
    package let seconds: Double

    /// Makes the source and runs the command on a copy of it, by statements: every engine is compared with them.
    ///
    /// - Throws: `HarnessError` if the undisturbed run fails: there would be nothing to compare with.
    package init(_ subject: Subject, settings: HarnessSettings, folder: String) throws {
        self.subject = subject
        executable = try settings.executable(subject)
        pristine = folder + "/pristine"
        try Files.makeDirectory(pristine)
        try subject.makeStore(in: pristine)
        let before = folder + "/before"
        try FolderTree.copy(pristine, to: before)
        let after = folder + "/after"
        try FolderTree.copy(pristine, to: after)
        let store = after + "/" + Subject.storeName
        let started = MonotonicClock.seconds()
        let command = ChildRun.Command(
            executable, subject.arguments(store: store, engine: .statements, extra: ["--quiet"]),
            output: folder + "/undisturbed.txt")
        let ending = try ChildRun.run(command)
        seconds = MonotonicClock.seconds() - started
        guard ending == .exited(0) else {
            throw HarnessError(
                "\(subject): the undisturbed run ended with \(ending): \(ChildRun.tail(of: command.output))\n"
                    + "    replay: \(command.description)")
        }
        oracle = StoreOracle(
            old: try StoreDigest(before + "/" + Subject.storeName), new: try StoreDigest(store))
        guard oracle.old != oracle.new else { throw HarnessError("\(subject): the migration changes nothing") }
    }

    /// Several subjects, each in a folder of its own.
    package static func make(
        _ subjects: [Subject], settings: HarnessSettings, folder: String
    ) throws -> [TrialSubject] {
        try subjects.map { subject in
            let own = "\(folder)/\(subject.name)-\(subject.state.rawValue)-\(subject.rows)"
            try Files.makeDirectory(own)
            return try TrialSubject(subject, settings: settings, folder: own)
        }
    }

    /// Rows that the store lacks, compared with the old or the new one, whichever is nearer.
    package func rowsLost(in store: String) -> Int {
        guard let digest = try? StoreDigest(store) else { return oracle.new.rows.values.reduce(0, +) }
        return min(digest.rowsMissing(from: oracle.old), digest.rowsMissing(from: oracle.new))
    }
}
