import Foundation

/// Stores of the project's own fixtures, with a canary in every text and blob.
struct FixtureStores {
    /// `Fixtures` of this package.
    let fixtures: String
    let harness: DamageHarness
    /// Where the stores are kept while the harness runs.
    let folder: String

    /// Histories with a version for which a store is generated: inferred steps, and mapping models without code.
    private static let histories = [
        ("Tracks", "v1"), ("Detour", "v1"), ("Jumps", "v3"), ("Kennel", "v1"), ("Ledger", "v1"),
    ]
    private static let rows = 200

    /// Subjects of these fixtures; nil is all.
    func subjects(of names: Set<String>? = nil) throws -> [(subject: DamageSubject, oracle: RowOracle?)] {
        var result: [(subject: DamageSubject, oracle: RowOracle?)] = []
        if names?.contains("Orchard") ?? true { result.append(try subject("Orchard", target: "v2", store: orchard())) }
        for (name, version) in Self.histories where names?.contains(name) ?? true {
            result.append(try subject(name, target: nil, store: generated(name, version)))
        }
        return result
    }

    private func subject(
        _ name: String, target: String?, store: String
    ) throws -> (subject: DamageSubject, oracle: RowOracle?) {
        let planted = try Canary.plant(in: store)
        guard planted > 0 else { throw HarnessFailure("\(name): no cell takes the canary") }
        let subject = DamageSubject(
            name: name, store: store, models: "\(fixtures)/\(name)/\(name).xcdatamodeld", target: target)
        return (subject, try RowOracle(of: subject, by: harness))
    }

    private func orchard() throws -> String {
        let store = folder + "/Orchard.sqlite"
        try Data(contentsOf: URL(fileURLWithPath: fixtures + "/Orchard/Orchard-v1.sqlite"))
            .write(to: URL(fileURLWithPath: store))
        return store
    }

    private func generated(_ name: String, _ version: String) throws -> String {
        let store = "\(folder)/\(name).sqlite"
        let process = try BoundedProcess(
            harness.command,
            [
                "generate", "\(fixtures)/\(name)/\(name).xcdatamodeld", store, "--rows", "\(Self.rows)", "--seed", "1",
                "--version", version,
            ], in: folder)
        guard process.end == .exit(0) else {
            throw HarnessFailure("\(name) isn't generated: \(process.end): \(process.text)")
        }
        return store
    }
}
