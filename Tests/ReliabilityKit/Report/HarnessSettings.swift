package import CausewayPlatform
package import CausewayPreparation

/// The settings of a run of the harnesses.
package struct HarnessSettings: Sendable {
    /// Everything random is derived from it.
    package var seed: UInt64
    /// Cases that run at once.
    package var threads: Int
    /// Whether to run the subset for every submission instead of everything.
    package var isQuick: Bool
    /// Multiplies the number of rounds and of random cases; steps between tried calls or states are divided by it.
    package var scale: Double
    /// The folder of the built executables and the fault shim.
    package var binaries: String
    /// A folder for the cases; each makes its own in it.
    package var scratch: String
    /// Failed cases keep their folders for inspection.
    package var keepsFailures: Bool
    /// The engines that move the rows. The quick subset tries most cases with one of them, in turn.
    package var engines: [EngineChoice] = [.statements, .pages]
    /// No further case is started after the first failure.
    package var stopsAtFailure = false
    /// Only these breaks of the protocol; nil is all of them.
    package var mutants: [Mutant]?
    /// Takes a line about the progress of a long harness.
    package var say: @Sendable (String) -> Void = { _ in }

    package init(
        seed: UInt64, threads: Int = 2, isQuick: Bool = true, scale: Double = 1, binaries: String, scratch: String,
        keepsFailures: Bool = false
    ) {
        self.seed = seed
        self.threads = threads
        self.isQuick = isQuick
        self.scale = scale
        self.binaries = binaries
        self.scratch = scratch
        self.keepsFailures = keepsFailures
    }

    /// The command under test.
    package var causeway: String { binaries + "/causeway" }
    /// Loaded into a command with LD_PRELOAD.
    package var faultShim: String { binaries + "/libCausewayFaultShim.so" }

    /// A chain's command, from the folder of the executables: with a copy of that folder, the package can be rebuilt
    /// during a run.
    package func executable(_ subject: Subject) throws -> String {
        binaries + "/" + Paths.name(of: try subject.executable)
    }
    /// The harness's own executable, which holds the writers and readers.
    package var reliability: String { binaries + "/reliability" }

    /// A number of rounds: for the quick subset or for everything, scaled, at least 1.
    package func rounds(quick: Int, full: Int) -> Int {
        max(1, Int((Double(isQuick ? quick : full) * scale).rounded()))
    }

    /// The migrations of harnesses whose cases take them in turn: every chain with every engine, in the quick subset
    /// every chain with one.
    var subjects: [Subject] {
        isQuick ? Subject.alternating(on: engines, seed: seed) : Subject.all(on: engines, seed: seed)
    }

    /// Whether a harness continues with its next case.
    func goesOn(_ tally: Tally) -> Bool { !stopsAtFailure || tally.result.isClean }

    /// Makes an empty folder for a case.
    package func makeFolder(_ name: String) throws(FileError) -> String {
        let path = Paths.join(scratch, name)
        try FolderTree.remove(path)
        try Files.makeDirectory(path)
        return path
    }

    /// Removes a case's folder, unless it is kept for inspection.
    package func dispose(_ folder: String, failed: Bool) {
        if failed, keepsFailures { return }
        // A folder that stays lies in the scratch folder, which is removed as a whole.
        try? FolderTree.remove(folder)
    }
}
