import Causeway

/// v1 → v2 → v3: artists are made out of the tracks' JSON, then the JSON goes.
///
/// The checksums say that the versions are those that were released: a model that somebody edited since stops the plan.
func tracksStages() throws -> StagedMigration {
    try StagedMigration {
        CustomMigrationStage(
            migratingFrom: .init(name: "v1", versionChecksum: "RdSKlUen/SYESj0q/7mJ84qszGqBrgIJGzEHQz2EeB8="),
            to: .init(name: "v2", versionChecksum: "iiQos4AwugArTVffv6O2fojwOdSlpFaeB96pq1PXVi8="),
            label: "Artists get rows of their own",
            didMigrate: { manager, _ in try makeArtists(in: manager.context) })
        LightweightMigrationStage(
            [.init(name: "v3", versionChecksum: "JaVcTdWrhFaZGyOkQFydLcVcRoPlnedI0ukgkQEJ4wY=")],
            label: "No more JSON")
    }
}
