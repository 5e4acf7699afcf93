import ArgumentParser

/// What `models --check` takes.
struct ModelsCheckArguments: ParsableArguments {
    @Option(
        name: .customLong("check"),
        help: ArgumentHelp(
            "Compare the models with this record of shipped versions, and check every step and mapping model.",
            valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(
        help: """
            With --check: write the versions up to the current one into the record, as shipped. A version that was \
            edited since it was recorded is refused.
            """)
    var record = false

    @Flag(help: "With --record: replace versions that were edited, and remove those that are gone.")
    var force = false

    @Option(
        name: .customLong("store"),
        help: ArgumentHelp(
            """
            With --check: a store that must be migratable to the current version; may be given several times.
            """,
            valueName: "store"),
        completion: .file())
    var stores: [String] = []

    /// Refuses options that need another one.
    func validate() throws {
        if file == nil, record || !stores.isEmpty {
            throw ValidationError("--record and --store need --check and its file.")
        }
        if force, !record { throw ValidationError("--force needs --record.") }
        if record, !stores.isEmpty {
            throw ValidationError("--record checks no stores; run --check with --store and without --record.")
        }
    }
}
