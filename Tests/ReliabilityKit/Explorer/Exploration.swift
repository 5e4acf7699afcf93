import CausewayEngine
package import CausewayPreparation
internal import Foundation

/// One traced run, with everything that is needed to check the states that a crash in it leaves.
package struct Exploration: Sendable {
    package let subject: Subject
    package let history: ModelHistory
    package let oracle: StoreOracle
    /// The files before the command began.
    package let start: [DiskModel.StartFile]
    package let trace: Trace
    /// Number of operations before the command reported success.
    package let success: Int
    /// Number of operations before the last step was recorded as verified; then come seal and swap.
    package let seal: Int
    /// Numbers of operations after which the new store's pages are being written; one range a step.
    package let pages: [ClosedRange<Int>]

    /// Makes the store, takes both digests from undisturbed runs, and traces the command.
    ///
    /// - Parameters:
    ///   - subject: what is migrated.
    ///   - folder: an empty folder, best in memory.
    ///   - work: how the command works.
    /// - Throws: `HarnessError` if the undisturbed runs fail or differ.
    package init(_ subject: Subject, in folder: String, work: Work = Work()) throws {
        self.subject = subject
        history = try subject.readHistory()
        let files = FileManager.default
        let (traced, quiet) = (folder + "/traced", folder + "/quiet")
        try files.createDirectory(atPath: quiet, withIntermediateDirectories: true)
        try subject.makeStore(in: quiet)
        try files.copyItem(atPath: quiet, toPath: traced)
        start = try Self.scan(traced)
        let old = try { () throws in
            let view = folder + "/old"
            try files.copyItem(atPath: quiet, toPath: view)
            return try StoreDigest(view + "/" + Subject.storeName)
        }()
        // Every engine is compared with statements.
        var request = try subject.request(store: quiet + "/" + Subject.storeName)
        request.options.engine = .statements
        _ = try Migration(request, history: history).run()
        oracle = StoreOracle(old: old, new: try StoreDigest(quiet + "/" + Subject.storeName))
        guard oracle.old != oracle.new else { throw HarnessError("\(subject): the migration changes nothing") }
        let ending = try Self.run(subject, traced, folder + "/shim", work)
        trace = ending.trace
        pages = trace.pagePhases.map { $0.lowerBound...$0.upperBound }
        (success, seal) = Self.landmarks(trace, hasSucceeded: ending.status == 0)
        guard work.isSound else { return }
        let faults = oracle.faults(inFinished: traced)
        guard faults.isEmpty else {
            throw HarnessError(
                "\(subject): the traced run isn't the undisturbed one: \(faults.joined(separator: "; "))")
        }
    }

    /// How the traced command is run.
    package struct Work: Sendable {
        /// Nil is the subject's for exploring.
        package var batchRows: Int?
        package var jobs = 1
        /// Seconds; 0 commits every batch.
        package var checkpointInterval = 0.0
        /// A deliberate break of the protocol, by its name in `Mutant`.
        package var mutant: String?
        /// As CAUSEWAY_FAULT_MODE.
        package var fault: String?
        package var extraArguments: [String] = []

        package init() {}

        var isSound: Bool { mutant == nil && fault == nil }
    }

    private static func run(
        _ subject: Subject, _ folder: String, _ scratch: String, _ work: Work
    ) throws -> ShimmedCommand.Ending {
        var command = ShimmedCommand(
            try subject.executable,
            subject.arguments(
                store: folder + "/" + Subject.storeName, batchRows: work.batchRows ?? subject.exploredBatchRows,
                jobs: work.jobs, checkpointInterval: work.checkpointInterval, extra: work.extraArguments),
            root: folder, scratch: scratch)
        command.traces = true
        command.fault = work.fault
        if let mutant = work.mutant { command.environment["CAUSEWAY_MUTANT"] = mutant }
        let ending = try command.run()
        guard ending.status == 0 || !work.isSound else {
            throw HarnessError("\(subject): the traced command ends with \(ending.status): \(ending.errors)")
        }
        return ending
    }

    /// The operation that reports success (after the last one if there is none), and the one that begins the swap.
    private static func landmarks(_ trace: Trace, hasSucceeded: Bool) -> (success: Int, seal: Int) {
        let operations = trace.operations
        guard
            let swap = operations.lastIndex(where: { $0.kind == .rename && $0.path2 == Subject.storeName })
        else { return (operations.count + 1, operations.count) }
        let said = operations[swap...].firstIndex { $0.kind == .output && $0.path == "1" } ?? operations.count
        // The record that the last step is verified; the seal follows.
        let seal = operations[..<swap].lastIndex { $0.kind == .rename && $0.path2.hasSuffix(".verified.json") } ?? swap
        return (hasSucceeded ? said : operations.count + 1, seal)
    }

    /// All that is in a folder.
    package static func scan(_ folder: String) throws -> [DiskModel.StartFile] {
        let files = FileManager.default
        return try files.subpathsOfDirectory(atPath: folder).sorted().map { name in
            let path = folder + "/" + name
            let attributes = try files.attributesOfItem(atPath: path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            guard let inode = attributes[.systemFileNumber] as? NSNumber,
                let mode = attributes[.posixPermissions] as? NSNumber
            else { throw HarnessError("\(path): can't be looked at") }
            return DiskModel.StartFile(
                path: name, inode: inode.uint64Value, mode: mode.uint32Value, isFolder: isFolder,
                bytes: isFolder ? [] : Array(files.contents(atPath: path) ?? Data()))
        }
    }
}
