/// The Swift code that an executable registers, while one of its commands runs.
///
/// The argument parser makes the commands from the command line alone, so the code reaches them as a task-local value.
enum RegisteredCode {
    @TaskLocal static var code = MigrationCode()
}
