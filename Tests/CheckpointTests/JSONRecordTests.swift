import CausewayCheckpoint
import Testing

@Suite(.timeLimit(.minutes(60))) struct JSONRecordTests {
    private struct Record: Codable, Equatable, Sendable {
        var format = "test/1"
        var store = "/data/Library.sqlite"
        var counts: [String: Int] = ["Note": 3, "Ärger": 1]
        var alpha: Bool? = true
    }

    @Test("a record is one line with sorted keys, plain slashes and a line end")
    func canonical() throws {
        let bytes = try JSONRecord.encode(Record())
        let expected = #"""
            {"alpha":true,"counts":{"Note":3,"Ärger":1},"format":"test/1","store":"/data/Library.sqlite"}

            """#
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(try JSONRecord.decode(bytes, as: Record.self) == Record())
    }

    @Test("the format is read although the rest isn't understood", arguments: ["\"swap/2\"", "12"])
    func format(value: String) throws {
        let bytes = Array("{\"zebra\":[{}],\"format\":\(value),\"later\":{\"x\":1}}\n".utf8)
        #expect(try JSONRecord.format(of: bytes) == (value == "12" ? "12" : "swap/2"))
        #expect(try JSONRecord.format(of: Array("{}".utf8)) == nil)
        #expect(throws: CheckpointError.self) { try JSONRecord.format(of: Array("{\"format\":[]}".utf8)) }
    }

    @Test("a record above its limit is refused, when it is written and when it is read")
    func limit() throws {
        let large = Record(store: String(repeating: "x", count: JSONRecord.maximumBytes))
        #expect(code { _ = try JSONRecord.encode(large) } == .tooLarge)
        let bytes = try JSONRecord.encode(large, limit: 2 << 20)
        #expect(code { _ = try JSONRecord.decode(bytes, as: Record.self) } == .tooLarge)
        #expect(try JSONRecord.decode(bytes, as: Record.self, limit: 2 << 20) == large)
        let count = try JSONRecord.encode(Record()).count
        #expect(code { _ = try JSONRecord.encode(Record(), limit: count - 1) } == .tooLarge)
        #expect(code { _ = try JSONRecord.encode(Record(), limit: count) } == nil)
    }

    @Test("nesting bombs are refused before the decoder", arguments: ["[", "{\"a\":", "[{\"a\":", "[\"]\\\"]\","])
    func bomb(unit: String) {
        let text = "{\"format\":" + String(repeating: unit, count: 100_000 / unit.utf8.count)
        #expect(code { _ = try JSONRecord.decode(Array(text.utf8), as: Record.self) } == .tooLarge)
    }

    @Test("the deepest allowed record is decoded, one deeper isn't")
    func nesting() throws {
        func text(depth: Int) -> [UInt8] {
            let inner = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            return Array("{\"format\":\"a\",\"deep\":\(inner)}".utf8)
        }
        #expect(try JSONRecord.format(of: text(depth: JSONRecord.maximumNesting)) == "a")
        #expect(code { _ = try JSONRecord.format(of: text(depth: JSONRecord.maximumNesting + 1)) } == .tooLarge)
    }

    @Test("brackets and quotes inside of texts aren't nesting")
    func texts() throws {
        let record = Record(store: String(repeating: "[{\"\\", count: 1_000))
        #expect(try JSONRecord.decode(JSONRecord.encode(record), as: Record.self) == record)
    }

    @Test("what isn't an object in UTF-8 is refused")
    func foreign() {
        let texts: [[UInt8]] = [
            [], Array("[]".utf8), Array("\"a\"".utf8), Array(" {}".utf8), [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
            [0x7B, 0x22, 0xFF, 0x22, 0x7D], [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D], [0x7B, 0, 0, 0, 0x7D, 0, 0, 0],
            [0x89, 0x43, 0x57, 0x5A],
        ]
        for bytes in texts {
            #expect(code { _ = try JSONRecord.decode(bytes, as: Record.self) } == .notAContainer)
        }
        #expect(code { _ = try JSONRecord.encode([1, 2]) } == .notAContainer)
    }

    @Test("every truncation but that of the line end is refused")
    func truncations() throws {
        let bytes = try JSONRecord.encode(Record())
        for count in 0..<bytes.count - 1 {
            #expect(code { _ = try JSONRecord.decode(Array(bytes[..<count]), as: Record.self) } != nil)
        }
    }

    @Test("a message names the member, escaped and cut, and not its value")
    func messages() {
        let foreign = Array(#"{"format":"a","store":"b","counts":{"bad\u001b[1m":"SECRET"}}"#.utf8)
        do {
            _ = try JSONRecord.decode(foreign, as: Record.self)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .malformed)
            #expect(error.message.contains("counts"))
            #expect(!error.message.contains("SECRET"))
            #expect(!error.message.contains("\u{1B}"))
        }
        let long = Array(
            "{\"format\":\"a\",\"store\":\"b\",\"counts\":{\"\(String(repeating: "k", count: 9_999))\":{}}}".utf8)
        do {
            _ = try JSONRecord.decode(long, as: Record.self)
            Issue.record("accepted")
        } catch {
            #expect(error.message.utf8.count < 400)
        }
    }

    @Test("a value that JSON can't hold is refused")
    func impossible() {
        struct Ratio: Encodable, Sendable {
            var value = Double.nan
        }
        #expect(code { _ = try JSONRecord.encode(Ratio()) } == .malformed)
    }

    @Test("random bytes in a record never trap", arguments: UInt64(0)..<32)
    func randomBytes(seed: UInt64) throws {
        let intact = try JSONRecord.encode(Record())
        var random = SeededRandom(seed: seed)
        for _ in 0..<60 {
            var bytes = intact
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            _ = code { _ = try JSONRecord.decode(bytes, as: Record.self) }
        }
    }

    private func code(_ body: () throws -> Void) -> CheckpointError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CheckpointError)?.code
        }
    }
}
