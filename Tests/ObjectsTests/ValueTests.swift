import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat
import Testing

@Suite("Attributes' values in a store", .timeLimit(.minutes(60)))
struct ValueTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var key: String
        var value: Value
        var stored: String
        /// The value that is read; nil if it is the one that was set.
        var read: Value?
        var testDescription: String { "\(key) \(value)" }

        init(_ key: String, _ value: Value, _ stored: String, reads read: Value? = nil) {
            self.key = key
            self.value = value
            self.stored = stored
            self.read = read
        }
    }

    static let identifier: [UInt8] = Array(1...16)
    static let cases = [
        Case("integer16", .integer(-32_768), "-32768"), Case("integer16", .boolean(true), "1", reads: .integer(1)),
        Case("integer16", .real(2.9), "2", reads: .integer(2)),
        Case("integer32", .integer(2_147_483_647), "2147483647"),
        Case("integer32", .decimal("12.7"), "12", reads: .integer(12)),
        Case("integer64", .integer(.min), "-9223372036854775808"),
        Case("decimal", .decimal("10.11"), "10.11"), Case("decimal", .decimal("12"), "12"),
        Case("decimal", .decimal("12.50"), "12.5", reads: .decimal("12.5")),
        Case("decimal", .decimal("NaN"), "NaN"), Case("decimal", .real(0.00001), "1e-05", reads: .decimal("0.00001")),
        Case("decimal", .real(1.5e30), "1.5e+30", reads: .decimal("1500000000000000000000000000000")),
        Case("decimal", .decimal("-0.0000125"), "-1.25e-05", reads: .decimal("-0.0000125")),
        Case("double", .real(1.5), "1.5"), Case("double", .integer(3), "3.0", reads: .real(3)),
        Case("double", .real(.infinity), "inf"), Case("float", .real(0.5), "0.5"),
        Case("float", .real(0.1), "0.10000000149011612", reads: .real(Double(Float(0.1)))),
        Case("text", .string("naïve\u{0}🎉"), "naïve\u{0}🎉"), Case("text", .string(""), ""),
        Case("flag", .boolean(true), "1"), Case("flag", .integer(5), "1", reads: .boolean(true)),
        Case("flag", .real(0.5), "1", reads: .boolean(true)), Case("flag", .real(-0.0), "0", reads: .boolean(false)),
        Case("flag", .decimal("-2.5"), "1", reads: .boolean(true)),
        Case("flag", .decimal("0.0"), "0", reads: .boolean(false)),
        Case("moment", .date(700_000_000), "700000000"), Case("moment", .date(1.25), "1.25"),
        Case("bytes", .data([1, 2]), "1.2"), Case("bytes", .data([]), ""),
        Case("large", .data([7]), "1.7"), Case("large", .data([]), "1"),
        Case("identifier", .uuid(identifier), "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16"),
        Case("link", .uri("https://example.org/a"), "https://example.org/a"),
        Case("archive", .data([98]), "98"), Case("archive", .string("x"), "x"),
        Case("address.street", .string("Elm"), "Elm"), Case("address.zip", .integer(123), "123"),
    ]

    @Test("a value is stored as Core Data stores it, and read back", arguments: cases)
    func roundTrip(_ test: Case) throws {
        let store = try TestStore()
        let context = store.context()
        let sample = try context.insert("Sample")
        let key = try context.key(test.key)
        try sample.set(key, to: test.value)
        #expect(try sample.value(key) == test.read ?? test.value)
        try context.flush()
        let column = try #require(store.map.layout.column(of: test.key, in: "Sample"))
        #expect(try store.row("SELECT \(column.name) FROM ZSAMPLE") == test.stored)
        #expect(try sample.value(key) == test.read ?? test.value)
        try sample.set(key, to: .null)
        try context.flush()
        #expect(try sample.value(forKey: test.key) == .null)
    }

    static let wrong: [(String, Value)] = [
        ("integer16", .integer(32_768)), ("integer16", .real(.nan)), ("integer16", .string("4711")),
        ("integer32", .integer(4_711_000_000)), ("integer32", .real(4_711e9)), ("integer64", .real(4_711e30)),
        ("integer64", .decimal("4711000000000000000000")), ("decimal", .decimal("0x4711")),
        ("decimal", .string("4711")),
        ("decimal", .decimal("inf")), ("double", .real(.nan)), ("float", .real(4.711e300)), ("text", .integer(4_711)),
        ("flag", .string("4711")), ("flag", .real(.nan)), ("flag", .decimal("NaN")), ("moment", .real(4_711)),
        ("moment", .date(.nan)), ("bytes", .string("4711")),
        ("identifier", .uuid([47, 11])), ("link", .integer(4_711)), ("archive", .integer(4_711)),
        ("address", .integer(4_711)), ("changed", .date(4_711)), ("address.zip", .string("4711")),
    ]

    @Test("a wrong type or too large a number names entity, attribute and row, never the value", arguments: wrong)
    func wrongType(_ key: String, _ value: Value) throws {
        let context = try TestStore().context()
        let sample = try context.insert("Sample")
        let error = #expect(throws: ObjectError.self) { try sample.set(PropertyKey(key), to: value) }
        #expect(error?.code == .type)
        #expect(error?.message.contains("Sample p1.\(key)") == true)
        #expect(error?.message.contains("4711") == false)
    }

    @Test("a stored value of another class is an error without the value")
    func wrongStoredClass() throws {
        let store = try TestStore()
        try store.execute("INSERT INTO ZSAMPLE (Z_PK, Z_ENT, Z_OPT, ZFLAG) VALUES (1, 9, 1, 'secret')")
        let context = store.context()
        let id = ObjectID(side: .destination, entity: try context.number(of: "Sample"), key: 1)
        let error = #expect(throws: ObjectError.self) { try context.object(with: id).value("flag") }
        #expect(error?.message.contains("Sample p1.flag") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test("a new object has the model's defaults, and inherited ones")
    func defaults() throws {
        let store = try TestStore()
        let context = store.context()
        let note = try context.insert("Note")
        let task = try context.insert("Task")
        #expect(try note.string("title") == "untitled")
        #expect(try note.integer("rank") == 7)
        #expect(try note.string("body") == nil)
        #expect(try task.bool("done") == false)
        try context.flush()
        #expect(
            try store.rows("SELECT Z_PK, Z_OPT, ZRANK, ZTITLE, ZDONE FROM ZITEM") == [
                "1 1 7 untitled -", "2 1 7 untitled 0",
            ])
        #expect(note.entityName == "Note" && task.uri == "x-coredata://STORE/Task/p2")
    }

    @Test("abstract and unknown entities have no objects")
    func noEntity() throws {
        let context = try TestStore().context()
        for name in ["Item", "Nothing"] {
            let error = #expect(throws: ObjectError.self) { try context.insert(name) }
            #expect(error?.code == .unknownEntity)
        }
    }

    @Test("an unknown property is an error; a transient one is never stored")
    func properties() throws {
        let context = try TestStore().context()
        let sample = try context.insert("Sample")
        #expect(throws: ObjectError.self) { try context.key("nothing") }
        let error = #expect(throws: ObjectError.self) { try sample.value("title") }
        #expect(error?.code == .unknownProperty)
        try sample.set("fleeting", to: "x")
        #expect(try sample.value("fleeting") == .null)
        #expect(try sample.value("address") == .null)
        try sample.set("address.zip", to: .integer(1))
        #expect(try sample.value("address") == .boolean(true))
    }

    @Test("a key of another model is looked up by its name")
    func foreignKey() throws {
        let context = try TestStore().context()
        let person = try context.insert("Person")
        let own = try context.key("age")
        try person.set(own, to: .integer(3))
        #expect(try person.integer("age") == 3)
        #expect(own.name == "age")
    }

    @Test("objects are found again after flush and forget, changes counted where asked")
    func foundAgain() throws {
        let store = try TestStore()
        let context = store.context(countsChanges: true)
        let note = try context.insert("Note")
        try note.set("body", to: "one")
        try context.flush()
        #expect(try note.string("body") == "one")
        try note.set("body", to: "two")
        try context.flush()
        context.forget()
        #expect(try note.string("body") == "two")
        #expect(try store.row("SELECT Z_OPT FROM ZITEM") == "2")
        let missing = ObjectID(side: .destination, entity: note.objectID.entity, key: 99)
        let error = #expect(throws: ObjectError.self) { try context.object(with: missing).string("body") }
        #expect(error?.code == .missing)
    }

    @Test("a read-only context can't be changed")
    func readOnly() throws {
        let store = try TestStore()
        let writer = store.context()
        let note = try writer.notes("a")[0]
        let tag = try writer.make("Tag", "t")
        try note.add(tag, to: "tags")
        try writer.flush()
        let before = try store.content()
        let context = store.reader()
        let readNote = context.object(with: note.objectID)
        let readTag = context.object(with: tag.objectID)
        #expect(try readNote.names("tags") == ["t"])
        let attempts: [() throws -> Void] = [
            { _ = try context.insert("Note") }, { try readNote.set("title", to: "x") },
            { try readNote.set("tags", to: [ManagedObject]()) }, { try readNote.add(readTag, to: "tags") },
            { try readNote.remove(readTag, from: "tags") }, { try readTag.remove(readNote, from: "notes") },
            { try readNote.delete() }, { try readNote.set("folder", to: nil as ManagedObject?) },
        ]
        for attempt in attempts {
            let error = #expect(throws: ObjectError.self) { try attempt() }
            #expect(error?.code == .store)
        }
        try context.flush()
        #expect(try store.content() == before)
    }
}
