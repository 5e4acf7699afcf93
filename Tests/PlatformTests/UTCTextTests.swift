import CausewayPlatform
import Foundation
import Testing

@Suite("Dates as text", .timeLimit(.minutes(60)))
struct UTCTextTests {
    @Test(
        "known dates, leap years among them",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (978_307_200, "2001-01-01T00:00:00Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (1_795_647_127, "2026-11-25T22:52:07Z"),
        ] as [(Int64, String)])
    func known(seconds: Int64, text: String) {
        #expect(UTCText.text(secondsSince1970: seconds) == text)
    }

    @Test("the same as Foundation's, over two centuries")
    func foundation() {
        for seconds in stride(from: Int64(-2_208_988_800), through: 4_102_444_800, by: 7_919_993) {
            let expected = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
            #expect(UTCText.text(secondsSince1970: seconds) == expected)
        }
    }
}
