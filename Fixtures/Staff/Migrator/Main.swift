package import Causeway
import CausewayTool

/// The `causeway` command with the code that Staff needs for v1 → v2.
@main
package struct StaffMigrator {
    /// What the mapping model names.
    package static var code: MigrationCode {
        var code = MigrationCode()
        code.register(ContactPolicy.self)
        return code
    }

    /// The same with the mapping model in Swift; it counts more than the file beside the models.
    package static var codeWithMapping: MigrationCode {
        var code = MigrationCode()
        code.add(staffMapping)
        return code
    }

    package static func main() async {
        await CausewayCommand.main(code: code)
    }
}
