/// The Swift side that an executable registers, while one of its commands runs.
///
/// The argument parser makes the commands from the command line alone, so what they work with comes from around them.
enum RegisteredCode {
    @TaskLocal static var code = MigrationCode()
}
