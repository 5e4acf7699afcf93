import CausewayTool

/// The command-line tool. A team's own executable looks the same and adds what it registers before the last line.
@main
struct Main {
    static func main() async {
        await CausewayCommand.main()
    }
}
