import CausewayEngine
internal import CausewayGeneration
internal import CausewayModel
internal import CausewayObjects
package import CausewayPreparation
internal import CausewayStoreFormat

/// A migration that the harnesses run again and again: a model history, a small generated store in a certain state, the
/// code, and the command that contains that code.
package struct Subject: Sendable, Hashable, CustomStringConvertible {
    package enum Chain: String, CaseIterable, Codable, Sendable {
        /// Orchard v1 → v2 → v3, every step inferred and run by itself; with external data.
        case inferred
        /// ColourfulPosts v1 → v4: a policy makes rows and links in the middle step. By pages it runs together with the
        /// inferred step before it.
        case split
        /// Tracks v1 → v3: a stage's handler makes entities out of JSON.
        case staged
        /// Kennel v1 → v3: two entities become one, so that half of the rows get other keys and the links follow
        /// associations.
        case merged
        /// Ledger v1 → v4: three mapping models without code, which run together by pages.
        case fused
    }

    /// How the application left the store.
    package enum SourceState: String, CaseIterable, Codable, Sendable {
        case clean
        /// In WAL mode; the last transactions are in the -wal only.
        case unmergedWAL
        /// A transaction was interrupted after it had written to the store: its journal must be rolled back.
        case hotJournal
    }

    package static let storeName = "Store.sqlite"
    package static let supportName = ".Store_SUPPORT"
    package static let workName = ".Store.sqlite.migration"

    package let chain: Chain
    /// What moves the rows; never `auto`, so that a run shows which engine it is about.
    package let engine: EngineChoice
    package let state: SourceState
    /// Rows of all entities in total.
    package let rows: Int
    package let seed: UInt64

    /// - Parameters:
    ///   - chain: which history.
    ///   - engine: what moves the rows.
    ///   - state: how the application left the store; nil is the chain's usual one, so that the chains cover all
    ///     states.
    ///   - rows: of all entities together; nil is a small number with several batches in every pass.
    ///   - seed: the rows are derived from it.
    package init(
        _ chain: Chain, engine: EngineChoice = .statements, state: SourceState? = nil, rows: Int? = nil,
        seed: UInt64 = 1
    ) {
        self.chain = chain
        self.engine = engine
        self.state = state ?? Self.usualState(chain)
        self.rows = rows ?? (chain == .inferred ? 130 : 40)
        self.seed = seed
    }

    private static func usualState(_ chain: Chain) -> SourceState {
        switch chain {
        case .inferred, .merged, .fused: .unmergedWAL
        case .split: .clean
        case .staged: .hotJournal
        }
    }

    package var description: String { "\(name)/\(state.rawValue)" }

    /// For folders and tables: the chain, and the engine where it isn't statements.
    package var name: String { engine == .statements ? chain.rawValue : "\(chain.rawValue)-\(engine.rawValue)" }

    /// Every chain with every engine, chains together.
    package static func all(
        _ chains: [Chain] = Chain.allCases, on engines: [EngineChoice], state: SourceState? = nil, seed: UInt64
    ) -> [Subject] {
        chains.flatMap { chain in engines.map { Subject(chain, engine: $0, state: state, seed: seed) } }
    }

    /// Every chain once, engines in turn: for what tries few cases.
    package static func alternating(on engines: [EngineChoice], seed: UInt64) -> [Subject] {
        Chain.allCases.enumerated().map { index, chain in
            Subject(chain, engine: engines[(index + Int(seed % 2)) % engines.count], seed: seed)
        }
    }

    /// The fixture's name.
    package var history: String {
        switch chain {
        case .inferred: "Orchard"
        case .split: "ColourfulPosts"
        case .staged: "Tracks"
        case .merged: "Kennel"
        case .fused: "Ledger"
        }
    }

    package var models: String { "\(Package.root)/Fixtures/\(history)/\(history).xcdatamodeld" }

    /// The command with the chain's code; it lies beside the harness, in the package's build folder.
    package var executable: String {
        get throws {
            switch chain {
            case .inferred, .merged, .fused: try Package.executable("causeway")
            case .split: try Package.executable("ColourfulPostsMigrator")
            case .staged: try Package.executable("TracksMigrator")
            }
        }
    }

    /// The command's arguments for an in-place migration with many small batches.
    ///
    /// - Parameters:
    ///   - store: its path.
    ///   - batchRows: rows in a batch.
    ///   - jobs: worker threads.
    ///   - engine: nil is the subject's.
    ///   - checkpointInterval: seconds; 0 commits every batch. With a larger value a run of a small subject commits
    ///     only at its start and end.
    ///   - extra: further arguments.
    /// - Returns: the arguments after the command's name.
    package func arguments(
        store: String, batchRows: Int = defaultBatchRows, jobs: Int = 1, engine: EngineChoice? = nil,
        checkpointInterval: Double = 0, extra: [String] = []
    ) -> [String] {
        [
            "migrate", store, "--models", models, "--batch-size", String(batchRows), "--jobs", String(jobs),
            "--checkpoint-interval", String(checkpointInterval), "--engine", (engine ?? self.engine).rawValue,
        ] + (stepsTogether > 1 ? [] : ["--no-fuse"]) + extra
    }

    /// How many steps may run together, from the first on.
    var stepsTogether: Int {
        switch chain {
        case .fused: 3
        case .split: engine == .pages ? 2 : 1
        case .inferred, .staged, .merged: 1
        }
    }

    /// Rows: few, so that a pass has several batches, each with its commit.
    package static let defaultBatchRows = 5

    /// Rows in a batch where every state of a run is tried. By pages these are only the batches after the pages, of
    /// which few are enough: a state would take seconds otherwise.
    var exploredBatchRows: Int { engine == .pages ? 1_000 : Self.defaultBatchRows }

    /// The same migration for a run in this process.
    package func request(
        store: String, batchRows: Int = defaultBatchRows, jobs: Int = 1
    ) throws -> MigrationRequest {
        var request = MigrationRequest(
            store: store, models: models,
            options: EngineOptions(
                batchRows: batchRows, mappingBatchRows: batchRows, jobs: jobs, now: 0, checkpointInterval: 0))
        request.fusesSteps = stepsTogether > 1
        request.options.engine = engine
        request.code = try SubjectCode.code(for: chain)
        return request
    }

    /// The versions, read once for many runs.
    package func readHistory() throws -> ModelHistory { try ModelHistory(reading: models, edges: [:]) }

    /// Writes the store and all its files into an empty folder.
    ///
    /// - Returns: the store's path.
    @discardableResult
    package func makeStore(in folder: String) throws -> String {
        let path = folder + "/" + Self.storeName
        let layout = try StoreLayout(
            model: try readHistory().version(named: "v1").model, frameworkVersion: 1145, hints: LayoutHints())
        // Small files: their content matters, not their size.
        let options = GenerationOptions(
            rows: rows, seed: seed, externalFileBytes: 600...1_500, rowsPerExternalFile: 4, maximumExternalFiles: 3)
        try StoreGenerator(layout: layout, options: options).generate(at: path) { _ in true }
        try SubjectState(store: path, chain: chain, engine: engine).bring(to: state)
        return path
    }
}
