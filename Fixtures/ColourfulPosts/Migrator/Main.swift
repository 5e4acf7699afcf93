package import Causeway
import CausewayTool

/// The `causeway` command with the code that Colourful Posts needs for v2 → v3.
@main
package struct ColourfulPostsMigrator {
    /// What the mapping model names.
    package static var code: MigrationCode {
        var code = MigrationCode()
        code.register(PostToSectionsPolicy.self)
        return code
    }

    package static func main() async {
        await CausewayCommand.main(code: code)
    }
}
