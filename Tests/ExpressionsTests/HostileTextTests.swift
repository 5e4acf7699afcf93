import CausewayExpressions
import CausewayPlist
import Foundation
import Testing

@Suite("Refusing texts", .timeLimit(.minutes(60)))
struct HostileTextTests {
    @Test(
        "errors name the place and what is expected there",
        arguments: [
            ("", 0, "an expression"), ("a ==", 4, "an expression"), ("a == 1 b", 7, "an operator or the end"),
            ("a", 0, "a condition"), ("(a == 1", 7, "“)”"), ("a == 'x", 5, "a closing quote"),
            ("a == 12x", 5, "a number"), ("a == 0xZZ", 5, "a number"), ("a == 1e", 5, "a number"),
            ("a ==[q] 1", 5, "options out of c, d, n and l"), ("a == b == c", 7, "AND, OR or the end"),
            ("a == 1 AND", 10, "an expression"), ("1 AND a == 1", 0, "a condition"),
            ("é == 1 AND ?", 12, "an expression"),
            ("a == (b == 1)", 5, "an expression"), ("in == 1", 0, "an expression"), ("a.", 2, "a key"),
            ("a == $", 6, "a name"), ("a == '\\u12'", 6, "hexadecimal digits"),
            ("a == '\\ud800'", 6, "hexadecimal digits"),
            ("ANY a", 5, "a comparison"), ("a == {1, 2", 10, "“,” or “}”"),
            ("FUNCTION(a) == 1", 0, "FUNCTION(target, \"selector:\", argument)"),
            ("add:to: == 1", 8, "“(” after the function's name"), ("SUBQUERY(a, b, c = 1) == 1", 12, "a variable"),
        ])
    func places(text: String, offset: Int, expected: String) throws {
        let error = #expect(throws: ExpressionSyntaxError.self) { try Predicate(parsing: text) }
        #expect(error?.offset == offset)
        #expect(error?.expected == expected)
    }

    @Test(
        "arguments, assignments and TOKENMATCHES aren't supported", arguments: ["a == %@", "$a := 1", "TOKENMATCHES a"])
    func unsupported(text: String) {
        let error = #expect(throws: ExpressionSyntaxError.self) { try Predicate(parsing: text) }
        #expect(error?.code == .unsupported || error?.code == .unexpected)
    }

    @Test(
        "deep nesting of every kind is refused",
        arguments: [
            ("(", "a", ")"), ("!", "a = 1", ""), ("-", "a", ""), ("{", "1", "}"), ("a + ", "a", ""), ("", "a", "[0]"),
            ("count:(", "a", ")"), ("", "$a", ".b[0]"), ("a UNION ", "a", ""), ("SUBQUERY(", "a", ", $x, a = 1)"),
            ("a = 1 OR (", "a = 1", ")"), ("TERNARY(a = 1, ", "a", ", b)"), ("a ** ", "a", ""),
        ])
    func depth(opening: String, middle: String, closing: String) throws {
        func text(_ count: Int) -> String {
            String(repeating: opening, count: count) + middle + String(repeating: closing, count: count)
        }
        for count in [200, 20_000] {
            let error = #expect(throws: ExpressionSyntaxError.self) { try Expression(parsing: text(count)) }
            #expect(error?.code == .limitExceeded)
        }
        let shallow = text(30)
        #expect(throws: Never.self) {
            if middle.contains("=") {
                _ = try Predicate(parsing: shallow)
            } else {
                _ = try Expression(parsing: shallow)
            }
        }
    }

    @Test("the deepest text that is accepted needs no more than a small thread's stack")
    func stack() async throws {
        let count = ExpressionLimits.depth - 2
        let texts = [
            String(repeating: "count:(", count: count) + "a" + String(repeating: ")", count: count),
            String(repeating: "- ", count: count) + "a",
            String(repeating: "{", count: count) + "1" + String(repeating: "}", count: count),
            String(repeating: "(1 + 2 * ", count: count / 3) + "a" + String(repeating: ")", count: count / 3),
        ]
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread {
                continuation.resume(
                    with: Result {
                        for text in texts {
                            let expression = try Expression(parsing: text)
                            var writer = KeyedArchiveWriter()
                            let root = try expression.archive(into: &writer)
                            let archive = try KeyedArchive(parsing: writer.bytes(root: root))
                            let copy = try Expression(archive: archive, at: archive.root)
                            guard copy == expression, copy.hashValue == expression.hashValue,
                                copy.formatString == expression.formatString
                            else { throw CancellationError() }
                        }
                    })
            }
            // Unoptimised stack frames are several times as large.
            #if DEBUG
                thread.stackSize = 1024 * 1024
            #else
                thread.stackSize = 512 * 1024
            #endif
            thread.start()
        }
    }

    @Test("long flat lists aren't nesting; texts over the limit are refused")
    func length() throws {
        let list = (0..<20_000).map(String.init).joined(separator: ",")
        #expect(throws: Never.self) { try Predicate(parsing: "a IN {\(list)}") }
        let terms = (0..<10_000).map { "a = \($0)" }.joined(separator: " OR ")
        #expect(throws: Never.self) { try Predicate(parsing: terms) }
        let error = #expect(throws: ExpressionSyntaxError.self) {
            try Expression(parsing: String(repeating: "a", count: ExpressionLimits.textLength + 1))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("mutated texts parse or fail, and what parses prints stably", arguments: 0..<20)
    func mutations(seed: Int) throws {
        var trees = RandomTrees(seed: UInt64(seed) + 1000)
        let splinters = [
            "(", ")", "'", "\"", "\\", "\\u", "$", "#", "@", ".", "[", "]", "{", "-", "!", "NOT ", " AND ", "0x", "é",
            "\u{0}", ":", ",",
        ]
        for _ in 0..<100 {
            var bytes = Array(trees.predicate(2).formatString.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &trees.random) {
                let place = Int.random(in: 0...bytes.count, using: &trees.random)
                switch Int.random(in: 0..<3, using: &trees.random) {
                case 0 where place < bytes.count: bytes.remove(at: place)
                case 1 where place < bytes.count: bytes[place] = UInt8.random(in: 0...127, using: &trees.random)
                default:
                    bytes.insert(contentsOf: splinters.randomElement(using: &trees.random)?.utf8 ?? "".utf8, at: place)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            do {
                let predicate = try Predicate(parsing: text)
                #expect(
                    try Predicate(parsing: predicate.formatString).formatString == predicate.formatString, "\(text)")
            } catch {
                #expect((0...text.utf8.count).contains(error.offset))
            }
        }
    }
}
