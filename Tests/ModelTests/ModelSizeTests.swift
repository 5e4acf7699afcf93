import CausewayModel
import CausewayPlist
import Testing

/// Models of very many entities or levels are refused by a stated limit, before any code follows parents or inverses.
@Suite("Sizes of models", .timeLimit(.minutes(60)))
struct ModelSizeTests {
    private static func source(_ entities: (Int) -> String, _ count: Int) -> [UInt8] {
        let text = (0..<count).map(entities).joined(separator: "\n")
        return Array(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(text)</model>
            """.utf8)
    }

    /// Each entity is the next one's parent.
    private static func chain(_ count: Int) -> [UInt8] {
        source({ "<entity name=\"E\($0)\"\($0 > 0 ? " parentEntity=\"E\($0 - 1)\"" : "")/>" }, count)
    }

    /// Each entity has a to-many to the next one.
    private static func ring(_ count: Int) -> [UInt8] {
        source(
            { place in
                """
                <entity name="E\(place)"><attribute name="a" optional="YES" attributeType="String"/>\
                <relationship name="next" optional="YES" maxCount="1" destinationEntity="E\((place + 1) % count)" \
                inverseName="previous" inverseEntity="E\((place + 1) % count)"/>\
                <relationship name="previous" optional="YES" toMany="YES" \
                destinationEntity="E\((place + count - 1) % count)" inverseName="next" \
                inverseEntity="E\((place + count - 1) % count)"/></entity>
                """
            }, count)
    }

    @Test("a hierarchy of 100 levels is read, one of 101 refused with the limit, the entity and its line")
    func levels() throws {
        #expect(try ModelReader.model(source: Self.chain(100)).entities.count == 100)
        let error = #expect(throws: ModelError.self) { try ModelReader.model(source: Self.chain(101)) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.message.contains("100 levels of inheritance") == true)
        #expect(error?.problems.first?.entity == "E100")
        #expect(error?.problems.first?.line == 102)
    }

    @Test("2,000 entities are read, 2,001 refused with the limit")
    func entities() throws {
        #expect(try ModelReader.model(source: Self.ring(2_000)).entities.count == 2_000)
        let error = #expect(throws: ModelError.self) { try ModelReader.model(source: Self.ring(2_001)) }
        #expect(error?.problems.map(\.message) == ["The model has 2001 entities; at most 2000 are read."])
    }

    /// A migration keeps sums of each entity's cells. One checkpoint must hold them, so this limit is checked when the
    /// model is read.
    @Test("hierarchies whose entities times columns exceed the limit are refused with it")
    func columns() throws {
        func hierarchy(_ root: String, entities: Int, columns: Int) -> String {
            let attributes = (0..<columns).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }.joined()
            return "<entity name=\"\(root)\">\(attributes)</entity>"
                + (1..<entities).map { "<entity name=\"\(root)\($0)\" parentEntity=\"\(root)\"/>" }.joined()
        }
        let small = Self.source({ hierarchy("A\($0)", entities: 300, columns: 200) }, 2)
        #expect(try ModelReader.model(source: small).entities.count == 600)
        for bytes in [
            Self.source({ _ in hierarchy("A", entities: 1_300, columns: 1_990) }, 1),
            Self.source({ hierarchy($0 == 0 ? "A" : "B", entities: 900 - $0, columns: 1_000) }, 2),
        ] {
            let error = #expect(throws: ModelError.self) { try ModelReader.model(source: bytes) }
            #expect(error?.problems.count == 1)
            #expect(error?.problems.first?.message.contains("at most 1600000 are read") == true, "\(error as Any)")
            #expect(error?.problems.first?.entity == "A")
        }
    }

    @Test("far beyond the limits a model is refused as fast", arguments: [true, false])
    func beyond(isDeep: Bool) throws {
        let bytes = isDeep ? Self.chain(5_000) : Self.ring(10_000)
        let time = ContinuousClock().measure {
            #expect(throws: ModelError.self) { try ModelReader.model(source: bytes) }
        }
        // A release build takes a second. This is a debug build, and other tests run beside it.
        #expect(time < .seconds(30))
    }

    @Test("a circle of parents below a chain is still called a circle")
    func circle() throws {
        let bytes = Self.source(
            { "<entity name=\"E\($0)\" parentEntity=\"E\(($0 + 1) % 200)\"/>" }, 200)
        let error = #expect(throws: ModelError.self) { try ModelReader.model(source: bytes) }
        #expect(error?.problems.first?.message.contains("its own ancestor") == true)
    }
}
