extension EngineError {
    /// The kinds of failure; the raw values are the process's exit codes.
    package enum Kind: Int32, Hashable, Sendable, CaseIterable {
        /// The call's arguments are wrong.
        case usage = 64
        /// The store's data can't be migrated as it is.
        case sourceData = 65
        /// The store or the models are missing or can't be read.
        case missing = 66
        /// Verification or an internal check failed; nothing was swapped.
        case verification = 70
        /// The work directory or the output can't be created or trusted.
        case cannotCreate = 73
        /// Input, output or a full disk.
        case inputOutput = 74
        /// Another program uses the store, or another process is migrating it.
        case busy = 75
        /// The state on disk needs a decision.
        case undecided = 76
        /// A checkpoint of another plan, tool or format.
        case foreignCheckpoint = 77
        /// A model, a mapping or the path between versions is wrong.
        case plan = 78
        case interrupted = 130
        case terminated = 143
    }
}
