package import Causeway
import CausewayTool

/// The `causeway` command with the stages that Tracks needs.
@main
package struct TracksMigrator {
    /// The stages from v1 to v3.
    package static var code: MigrationCode {
        get throws {
            var code = MigrationCode()
            code.stages = try tracksStages()
            return code
        }
    }

    package static func main() async throws {
        await CausewayCommand.main(code: try code)
    }
}
