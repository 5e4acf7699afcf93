package import Causeway
import CausewayTool

/// The `causeway` command with the code that the book store needs for v3 → v4 → v5.
@main
package struct BookStoreMigrator {
    /// What the mapping models name, and the manager that fills in the synopses.
    package static var code: MigrationCode {
        var code = MigrationCode()
        code.register(AuthorNamePolicy.self)
        code.managerType = SynopsisManager.self
        return code
    }

    package static func main() async {
        await CausewayCommand.main(code: code)
    }
}
