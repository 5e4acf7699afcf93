import CausewayEvaluation
import CausewayExpressions
import Testing

@Suite("Regular expressions", .timeLimit(.minutes(60)))
struct RegularExpressionTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        let compiler = ExpressionCompiler(evaluated: .any)
        let predicate = Predicate.comparison(
            .init(.evaluatedObject, .matches, .constant(.string(pattern))))
        let scope = EvaluationScope(now: 0)
        scope.evaluated = .string(text)
        return try compiler.compile(predicate).evaluate(scope)
    }

    @Test(
        "patterns that match a whole text",
        arguments: [
            ("[a-hA-H].*", "hello"), ("", ""), ("a|ab", "ab"), ("(a|b)*c", "ababc"), ("a{2,3}", "aaa"), ("a{2}", "aa"),
            ("a{2,}", "aaaa"), ("\\d+", "123"), ("\\w+", "été_1"), ("\\s\\S", " x"), (".", "\u{1f600}"),
            ("[^abc]", "d"),
            ("[\\d.-]+", "1.-2"), ("[a-z&&[^aeiou]]+", "xyz"), ("[[a-c][x-z]]+", "axc"), ("[]a]+", "]a"),
            ("\\p{L}+", "éaß"), ("\\p{Lu}\\P{Lu}", "Ab"), ("[[:alpha:]]+", "ab"), ("(?i)abc", "aBC"),
            ("a(?i:b)c", "aBc"), ("(?s).+", "a\nb"), ("a\\.b", "a.b"), ("\\Qa.b\\E+", "a.bbb"), ("\\x41\\u0042", "AB"),
            ("\\x{1F600}", "\u{1f600}"), ("^abc$", "abc"), ("(?=.*\\d)(?=.*[A-Z]).{3,}", "aB1"), ("(?!x)..", "ab"),
            ("ab(?<=b)c", "abc"), ("a\\b b", "a b"), ("(?<year>\\d{4})-\\d\\d", "2020-12"), ("a*?b", "aab"),
            ("(?x) a b # c", "ab"), ("\\Aa\\z", "a"), ("(a*)*", "aaa"), ("(|a)+", "aa"), ("\\R", "\r\n"),
            ("[A-Z0-9._%+-]+@[A-Z0-9.-]+\\.[A-Z]{2,4}", "A@B.COM"), ("[--/]+", "-./"), ("a{0}b", "b"),
        ])
    func matching(pattern: String, text: String) throws {
        #expect(try matches(pattern, text), "\(pattern) on \(text)")
    }

    @Test(
        "patterns that don't",
        arguments: [
            ("[a-hA-H].*", "zello"), ("a", "ab"), ("b", "ab"), (".*", "a\nb"), ("a{2,3}", "aaaa"), ("\\d", "x"),
            ("(?!x)..", "xb"), ("(?=.*\\d).+", "abc"), ("ab(?<!b)c", "abc"), ("abc", "ABC"), ("a(?i:b)c", "aBC"),
            ("\\bé\\B", "é"), ("a{2}", "a"), ("[^a]", "a"), ("^a$b", "ab"),
        ])
    func notMatching(pattern: String, text: String) throws {
        #expect(try !matches(pattern, text), "\(pattern) on \(text)")
    }

    @Test(
        "an invalid pattern is a planning error with its place",
        arguments: [
            "[a-", "(a", "a)", "*a", "a{3,2}", "a**", "a\\", "\\1", "(?>a)", "a++", "[z-a]", "\\p{Nope}", "(?q)", "{2}",
            "(a{1000}){1000}", "\\y", String(repeating: "(", count: 1000), String(repeating: "[", count: 1000),
            String(repeating: "[a", count: 100_000), String(repeating: "(?:", count: 100_000),
        ])
    func refused(pattern: String) throws {
        let error = #expect(throws: CompilationError.self) { try matches(pattern, "a") }
        #expect(error?.code == .pattern)
        #expect(error?.message.contains("at its character") == true)
    }

    @Test("patterns on which backtracking matchers don't end take linear time")
    func linear() throws {
        let text = String(repeating: "a", count: 5_000) + "b"
        #expect(try !matches("(a+)+", text))
        #expect(try !matches("(a|a)*", text))
        #expect(try !matches("(.*)*x", text))
    }
}
