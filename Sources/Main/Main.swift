import CausewayTool

/// The command-line tool. A team's own executable looks the same and hands over its code:
/// `CausewayCommand.main(code:)`.
@main
struct Main {
    static func main() async {
        await CausewayCommand.main()
    }
}
