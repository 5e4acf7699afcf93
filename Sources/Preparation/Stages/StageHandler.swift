package import CausewayObjects

/// One handler of a custom stage in its place on the path.
package struct StageHandler: Sendable {
    package enum Moment: String, Hashable, Sendable {
        /// Before the hop, on the store at the stage's first version.
        case willMigrate
        /// After the hop, on the store at the stage's second version.
        case didMigrate
    }

    package let stage: CustomMigrationStage
    /// The stage's place among the stages, counted from 0.
    package let number: Int
    package let moment: Moment
    /// The name of the version that the store has.
    package let version: String
    package let body: CustomMigrationStage.Handler

    /// nil where the stage has no handler for the moment.
    package init?(_ stage: CustomMigrationStage, number: Int, moment: Moment, version: String) {
        guard let body = moment == .willMigrate ? stage.willMigrateHandler : stage.didMigrateHandler else { return nil }
        self.stage = stage
        self.number = number
        self.moment = moment
        self.version = version
        self.body = body
    }

    /// The handler for people: `stage 2 “…”, willMigrate at “Model 2”`.
    package var title: String {
        "\(StagedMigration.title(of: stage, number)), \(moment.rawValue) at “\(version)”"
    }
}
