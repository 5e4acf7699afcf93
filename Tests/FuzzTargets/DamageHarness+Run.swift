import Foundation

extension DamageHarness {
    /// Damaged copies of each store: with 49 stores more than 3,000 in all.
    private static let variants = (quick: 16, full: 64)
    /// Stores of the quick subset besides the fixtures: small ones, of three apps, one with a log.
    private static let quickStores: Set<String> = [
        "students/OldStudentsStore.sqlite", "posts-and-colors/CoreDataMigration_Example_WAL.sqlite",
        "colourful-posts/CoreDataMigration_Example_1.sqlite",
    ]

    /// Everything of harness 7: checkpoints, stores of fixtures and of real apps, hostile input.
    ///
    /// - Parameters:
    ///   - seed: everything random is derived from it.
    ///   - isQuick: the subset for every submission: fewer stores and variants, and no hostile input, which the
    ///     ordinary tests run.
    ///   - fixtures: `Fixtures` of this package.
    ///   - sharedStores: the folder of real stores, which is only read; nil or missing: they are skipped.
    ///   - scale: multiplies the number of variants.
    ///   - say: takes a line of progress.
    /// - Returns: what was tried and found.
    /// - Throws: if the harness itself can't work.
    package func run(
        seed: UInt64, isQuick: Bool, fixtures: String, sharedStores: String?, scale: Double = 1,
        say: @escaping @Sendable (String) -> Void
    ) throws -> Result {
        let variants = max(1, Int((Double(isQuick ? Self.variants.quick : Self.variants.full) * scale).rounded()))
        var result = try CheckpointDamage(seed: seed, stride: isQuick ? 7 : 1).run()
        say("    \(result.tried) damaged checkpoints, \(result.failures.count) failures")
        try inFolder { folder in
            var subjects = try FixtureStores(fixtures: fixtures, harness: self, folder: folder).subjects()
            if let sharedStores, FileManager.default.fileExists(atPath: sharedStores) {
                subjects += try SharedStores(root: sharedStores, harness: self, folder: folder).subjects { name in
                    !isQuick || Self.quickStores.contains(name)
                }
            } else {
                result.skipped.append("the stores of real apps: \(sharedStores ?? "their folder") is missing")
            }
            let migrated = subjects.count { $0.oracle != nil }
            result.details["stores"] = subjects.count
            result.details["stores that are migrated"] = migrated
            let stores = try damagedStores(subjects, variants: variants, seed: seed, say: say)
            result.details["damaged stores"] = stores.tried
            say("    \(stores.tried) damaged copies of \(subjects.count) stores, \(stores.failures.count) failures")
            result.add(stores)
        }
        if !isQuick {
            let hostile = try self.hostile()
            result.details["hostile inputs"] = hostile.tried
            say("    \(hostile.tried) hostile inputs, \(hostile.failures.count) failures")
            result.add(hostile)
        }
        for (code, count) in result.refused { result.details["refused with \(code)"] = count }
        result.details["copied faithfully"] = result.copiedFaithfully
        result.details["milliseconds of the slowest command"] = Int(result.slowest * 1_000)
        return result
    }

    /// Damaged copies of fixtures alone, for the ordinary tests.
    package func damagedFixtures(
        _ fixtures: String, histories: Set<String>, variants: Int, seed: UInt64
    ) throws -> Result {
        try inFolder { folder in
            let stores = FixtureStores(fixtures: fixtures, harness: self, folder: folder)
            return try damagedStores(try stores.subjects(of: histories), variants: variants, seed: seed)
        }
    }

    /// Checkpoint files with damage at every `stride`-th place.
    package static func damagedCheckpoints(seed: UInt64, stride: Int) throws -> Result {
        try CheckpointDamage(seed: seed, stride: stride).run()
    }
}
