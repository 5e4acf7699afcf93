package import CausewayPlatform

/// What a run of the harnesses was asked for.
package struct HarnessSettings: Sendable {
    /// Everything random follows from it.
    package var seed: UInt64
    /// Cases that run at once.
    package var threads: Int
    /// The subset for every submission, instead of everything.
    package var isQuick: Bool
    /// Multiplies the number of rounds and of random cases; strides of enumerations are divided by it.
    package var scale: Double
    /// The folder of the built executables and of the fault shim.
    package var binaries: String
    /// A folder for the cases; each makes one of its own in it.
    package var scratch: String
    /// Cases that failed keep their folders, to be looked at.
    package var keepsFailures: Bool
    /// No further case is begun after the first that failed.
    package var stopsAtFailure = false
    /// Only these breaks of the protocol; nil is all of them.
    package var mutants: [Mutant]?
    /// Takes a line on how far a long harness is.
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
    /// What goes into a command with LD_PRELOAD.
    package var faultShim: String { binaries + "/libCausewayFaultShim.so" }

    /// A chain's command, from the folder of the executables: a copy of them can be run while the package is rebuilt.
    package func executable(_ subject: Subject) throws -> String {
        binaries + "/" + Paths.name(of: try subject.executable)
    }
    /// The harness's own executable, which holds the writers and readers.
    package var reliability: String { binaries + "/reliability" }

    /// A number of rounds: of the quick subset or of everything, scaled, at least 1.
    package func rounds(quick: Int, full: Int) -> Int {
        max(1, Int((Double(isQuick ? quick : full) * scale).rounded()))
    }

    /// Whether a harness goes on with its next case.
    func goesOn(_ tally: Tally) -> Bool { !stopsAtFailure || tally.result.isClean }

    /// Makes an empty folder for a case.
    package func makeFolder(_ name: String) throws(FileError) -> String {
        let path = Paths.join(scratch, name)
        try FolderTree.remove(path)
        try Files.makeDirectory(path)
        return path
    }

    /// Removes a case's folder, unless it is to be looked at.
    package func dispose(_ folder: String, failed: Bool) {
        if failed, keepsFailures { return }
        // What stays behind lies in the scratch folder, which goes as a whole.
        try? FolderTree.remove(folder)
    }
}
