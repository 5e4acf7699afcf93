import CausewayFuzzTargets
import CausewayReliabilityKit

extension Harness {
    /// The kit's harnesses and the one below; the mutants come last because they take longest.
    static let every = all.flatMap { $0.name == MutantHarness.name ? [damage, $0] : [$0] }

    /// Harness 7. It is built from the fuzz targets, which the kit doesn't import.
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
