import CausewayFuzzTargets
import CausewayReliabilityKit

extension Harness {
    /// The kit's and this one; the mutants, which take longest, are the last.
    static let every = all.flatMap { $0.name == MutantHarness.name ? [damage, $0] : [$0] }

    /// Harness 7; it is made of what the fuzz targets are made of, which the kit doesn't know.
    static let damage = Harness("damage", "stores and checkpoints with damage, inputs made to do harm") { settings in
        let folder = try settings.makeFolder("damage")
        let harness = DamageHarness(
            command: settings.causeway, folder: folder, threads: settings.threads,
            findings: settings.keepsFailures ? settings.scratch + "/damage-findings" : nil)
        let found = try harness.run(
            seed: settings.seed, isQuick: settings.isQuick, fixtures: Package.root + "/Fixtures",
            sharedStores: Package.root + "/../shared/stores", scale: settings.scale, say: settings.say)
        settings.dispose(folder, failed: false)
        var result = HarnessResult(name: "damage")
        result.tried = found.tried
        result.survived = found.survived
        result.rowsLost = found.rowsLost
        result.details = found.details
        for failure in found.failures { result.fail(failure) }
        return HarnessReport(result: result, skipped: found.skipped)
    }
}
