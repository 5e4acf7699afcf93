import CausewayPlatform
import Testing

@Suite("Text for a terminal", .timeLimit(.minutes(60)))
struct PrintableTextTests {
    @Test(
        "control characters are escaped, and on one line what ends lines too",
        arguments: [
            ("Böoks 📚.sqlite", "Böoks 📚.sqlite", "Böoks 📚.sqlite"), ("A\nB\tC", "A\nB\tC", #"A\u{a}B\u{9}C"#),
            ("A\u{1B}[31m", #"A\u{1b}[31m"#, #"A\u{1b}[31m"#), ("A\r\nB", "A\\u{d}\nB", #"A\u{d}\u{a}B"#),
            ("A\u{2028}\u{202E}B", #"A\u{2028}\u{202e}B"#, #"A\u{2028}\u{202e}B"#),
        ])
    func escapes(text: String, printable: String, onOneLine: String) {
        #expect(text.printable == printable)
        #expect(text.onOneLine == onOneLine && text.onOneLine.onOneLine == onOneLine)
    }
}
