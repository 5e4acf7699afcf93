import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

/// Samples with one text each in a source batch, as hooks see them.
struct SampleTexts {
    let store: TestStore
    let source: SourceRows
    let reading: ObjectContext
    private let cells: [Int]
    private let entity: Int32

    init(_ texts: [CellValue], in store: TestStore? = nil) throws {
        let store = try store ?? TestStore()
        self.store = store
        source = try SourceRows(texts.map { [.integer(1), $0] })
        reading = store.reader()
        entity = try reading.number(of: "Sample")
        let column = try #require(store.map.layout.column(of: "text", in: "Sample"))
        let columns = try #require(store.map.layout.table(of: "Sample")?.columns)
        cells = columns.map { $0 == column ? 1 : -1 }
    }

    /// Moves to a row.
    func stand(_ row: Int) throws -> ManagedObject {
        try source.load(row)
        let id = ObjectID(side: .source, entity: entity, key: Int64(row + 1))
        reading.stand(on: id, view: source.view, cells: cells, row: row)
        return reading.object(with: id)
    }
}

@Suite("Texts as UTF-8", .timeLimit(.minutes(60)))
struct TextTests {
    private static let texts = [
        "", "a", "abcd", "plain ASCII of some length", "naïve", "ïaïb", "e\u{301}e\u{301}x", "\r\nab\r\n", "a\u{301}",
        "🎉🎉 party", "👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷", "\u{0}\u{0}x", " ", "  two  spaces ", "日本語 テキスト", "\u{10FFFF}\u{D7FF}\u{E000}",
    ]

    @Test("a text is lent as its bytes, NULL isn't lent")
    func lent() throws {
        let samples = try SampleTexts(Self.texts.map { .text($0) } + [.null])
        for (row, text) in Self.texts.enumerated() {
            let object = try samples.stand(row)
            #expect(try object.withUTF8("text") { String($0) } == text)
            #expect(try object.withUTF8("text") { $0 == text } == true)
            #expect(try object.withUTF8("text") { $0 != text } == false)
            #expect(try object.withUTF8("text") { $0 == text + "x" } == false)
            #expect(try object.withUTF8("text") { $0.isEmpty } == text.isEmpty)
            #expect(try object.withUTF8("text") { $0.utf8.count } == text.utf8.count)
            #expect(try object.string("text") == text)
        }
        let none = try samples.stand(Self.texts.count)
        var calls = 0
        #expect(try none.withUTF8("text") { _ in calls += 1 } == nil)
        #expect(calls == 0)
        #expect(try none.string("text") == nil)
        #expect(throws: ObjectError.self) { _ = try none.withUTF8("nothing") { _ in } }
    }

    @Test("parts are those of a String and never cut a character")
    func parts() throws {
        let samples = try SampleTexts(Self.texts.map { .text($0) })
        for (row, text) in Self.texts.enumerated() {
            let object = try samples.stand(row)
            for count in [0, 1, 2, 3, 4, 5, 8, 1_000] {
                #expect(try object.withUTF8("text") { String($0.prefix(count)) } == String(text.prefix(count)))
                #expect(try object.withUTF8("text") { String($0.dropFirst(count)) } == String(text.dropFirst(count)))
                let both = try object.withUTF8("text") { Array(String($0.dropFirst(1).prefix(count)).utf8) }
                #expect(both == Array(String(text.dropFirst(1).prefix(count)).utf8))
            }
            for separator: Unicode.Scalar in [" ", "a", "ï", "🎉", "\u{0}", "語"] {
                for omitting in [true, false] {
                    var found: [[Unicode.Scalar]] = []
                    try object.withUTF8("text") {
                        $0.split(separator: separator, omittingEmptySubsequences: omitting) { part in
                            found.append(Array(String(part).unicodeScalars))
                        }
                    }
                    let expected = Array(text.unicodeScalars)
                        .split(separator: separator, omittingEmptySubsequences: omitting).map { Array($0) }
                    #expect(found == expected)
                }
                let before = try object.withUTF8("text") { Array(String($0.prefix { $0 != separator }).unicodeScalars) }
                #expect(before == Array(text.unicodeScalars.prefix { $0 != separator }))
                let after = try object.withUTF8("text") { Array(String($0.drop { $0 != separator }).unicodeScalars) }
                #expect(after == Array(text.unicodeScalars.drop { $0 != separator }))
            }
            let isPlain = try object.withUTF8("text") { $0.hasPrefix("a") }
            #expect(isPlain == text.utf8.starts(with: "a".utf8))
            #expect(try object.withUTF8("text") { $0.hasPrefix("") } == true)
        }
    }

    private func bytes() -> [[UInt8]] {
        var result: [[UInt8]] = [
            [], [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
        ]
        let seconds: [UInt8] = [0, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8.min...UInt8.max {
            result.append([first])
            for second in seconds {
                result.append([first, second])
                for last: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] {
                    result += [[first, second, last], [first, second, 0x80, last], [first, second, last, 0x80]]
                    result += [Array("twelve ASCII".utf8) + [first, second, last, 0x80, 0x20]]
                }
            }
        }
        var random = SplitMix(state: 7)
        let likely: [UInt8] = [0x41, 0x80, 0xBF, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xA0, 0x9F, 0x90, 0x8F]
        for _ in 0..<20_000 {
            let count = Int(random.next() % 12)
            result.append((0..<count).map { _ in likely[Int(random.next() % UInt64(likely.count))] })
        }
        for _ in 0..<2_000 {
            let scalars = (0..<8).compactMap { _ in Unicode.Scalar(UInt32(random.next() % 0x110000)) }
            let text = Array(String(String.UnicodeScalarView(scalars)).utf8)
            result += [text, Array(text.dropLast()), Array(text.dropFirst())]
        }
        return result
    }

    @Test("bytes that aren't UTF-8 are refused and change nothing")
    func validity() throws {
        let context = try TestStore().context()
        let sample = try context.insert("Sample")
        for bytes in bytes() {
            let expected = String(validating: bytes, as: UTF8.self)
            try sample.set("text", to: "before")
            do {
                try sample.set("text", toUTF8: bytes.span)
                if expected == nil || Array(expected?.utf8 ?? "".utf8) != bytes { Issue.record("\(bytes) was taken") }
            } catch {
                if expected != nil || error.code != .type { Issue.record("\(bytes): \(error)") }
            }
            let now = try sample.string("text")
            if now.map({ Array($0.utf8) }) != Array((expected ?? "before").utf8) {
                Issue.record("\(bytes) became \(now ?? "-")")
            }
        }
    }

    @Test("a stored text that isn't UTF-8 is refused, lent or not")
    func invalidSource() throws {
        let samples = try SampleTexts([.text("okay")])
        let object = try samples.stand(0)
        #expect(try object.withUTF8("text") { $0 == "okay" } == true)
        try samples.store.execute(
            "INSERT INTO ZSAMPLE (Z_PK, Z_ENT, ZTEXT) SELECT 9, Z_ENT, CAST(x'61FF' AS TEXT) FROM (SELECT \(object.objectID.entity) AS Z_ENT)"
        )
        let stored = samples.store.reader().object(
            with: ObjectID(side: .destination, entity: object.objectID.entity, key: 9))
        #expect(throws: ObjectError.self) { _ = try stored.withUTF8("text") { _ in } }
    }

    @Test("texts set from spans are those of the row, whole, in part or put together", arguments: [false, true])
    func setting(detached: Bool) throws {
        let long = String(repeating: "überlang ", count: 9_000)
        let texts = Self.texts + [long]
        let samples = try SampleTexts(texts.map { .text($0) })
        let writer = samples.store.context()
        let context = detached ? samples.store.worker() : writer
        context.sourceBatch = samples.source.batch
        var expected: [String] = []
        for (row, text) in texts.enumerated() {
            let object = try samples.stand(row)
            context.follow(samples.reading)
            let made = try (0..<5).map { _ in try context.insert("Sample") }
            try object.withUTF8("text") { span in
                try made[0].set("text", to: span)
                try made[1].set("text", to: span.prefix(3))
                try made[2].set("text", to: "replaced")
                try made[2].set("text", to: span)
                try made[2].set("text", to: span.dropFirst(2))
                try made[3].set("text", to: span.prefix(3))
                try made[3].set("text", to: span)
                try made[4].set("text") {
                    $0.append(span.prefix(4))
                    $0.append("…")
                    $0.append(span)
                    let nested = try context.insert("Sample")
                    try nested.set("text") { $0.append("nested") }
                    try nested.delete()
                }
            }
            let own = [text, String(text.prefix(3)), String(text.dropFirst(2)), text, text.prefix(4) + "…" + text]
            for (sample, own) in zip(made, own) {
                #expect(try sample.string("text") == own)
                #expect(try sample.withUTF8("text") { String($0) } == own, "of a new object")
            }
            // Building throws: nothing is set.
            #expect(throws: CancellationError.self) {
                try made[1].set("text") {
                    $0.append("lost")
                    throw CancellationError()
                }
            }
            try made[4].set("text") { _ in }
            #expect(try made[4].string("text") == "")
            expected += own.dropLast() + [""]
        }
        if detached {
            var rows = PendingRows(samples.store.map)
            context.handOver(to: &rows)
            try writer.write(&rows)
        } else {
            try context.flush()
        }
        #expect(try samples.store.rows("SELECT ZTEXT FROM ZSAMPLE ORDER BY Z_PK") == expected)
        let first = writer.object(
            with: ObjectID(side: .destination, entity: try writer.number(of: "Sample"), key: 1))
        try first.set("text") { $0.append("of a stored object") }
        #expect(try first.withUTF8("text") { $0 == "of a stored object" } == true)
        try writer.flush()
        #expect(try samples.store.rows("SELECT ZTEXT FROM ZSAMPLE WHERE Z_PK = 1") == ["of a stored object"])
    }

    @Test("an object gets the text of another row or batch, not its own row's cell")
    func otherRows() throws {
        let samples = try SampleTexts([.text("first"), .text("second")])
        let other = try SampleTexts([.text("other batch"), .text("other second")], in: samples.store)
        let context = samples.store.context()
        context.sourceBatch = samples.source.batch
        let object = try samples.stand(0)
        context.follow(samples.reading)
        let (a, b) = (try context.insert("Sample"), try context.insert("Sample"))
        // Another source context on the same row and cell of another batch.
        _ = try other.stand(0).withUTF8("text") { try a.set("text", to: $0) }
        #expect(try a.string("text") == "other batch")
        _ = try object.withUTF8("text") { outer in
            try other.stand(0).withUTF8("text") { inner in
                try b.set("text", to: inner)
                #expect(try b.string("text") == "other batch")
                try b.set("text", to: outer)
            }
        }
        // The next row of the batch, for an object of the one before; then the source has moved on alone.
        let second = try samples.stand(1)
        _ = try second.withUTF8("text") { try a.set("text", to: $0) }
        context.follow(samples.reading)
        #expect(try a.string("text") == "second")
        let c = try context.insert("Sample")
        _ = try second.withUTF8("text") {
            try c.set("text", to: $0)
            try a.set("text", to: $0)
            try context.flush()
            try b.set("text", to: $0.prefix(1))
            let d = try context.insert("Sample")
            try d.set("text", to: $0)
        }
        try context.flush()
        #expect(
            try samples.store.rows("SELECT ZTEXT FROM ZSAMPLE ORDER BY Z_PK") == ["second", "s", "second", "second"])
    }

    @Test("only string attributes of the destination take texts")
    func refused() throws {
        let samples = try SampleTexts([.text("x")])
        let object = try samples.stand(0)
        let context = samples.store.context()
        let sample = try context.insert("Sample")
        for key: PropertyKey in ["integer64", "changed", "address", "link", "nothing"] {
            #expect(throws: ObjectError.self) { try object.withUTF8("text") { try sample.set(key, to: $0) } }
            #expect(throws: ObjectError.self) { try sample.set(key) { $0.append("x") } }
        }
        #expect(throws: ObjectError.self) { try object.withUTF8("text") { try object.set("text", to: $0) } }
        try sample.set("link", to: .uri("https://example.org"))
        #expect(try sample.withUTF8("link") { $0 == "https://example.org" } == true)
    }
}

/// Reproducible numbers.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
