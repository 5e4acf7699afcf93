import CausewayEvaluation
import CausewayObjects
import Testing

@Suite("Fetching", .timeLimit(.minutes(60)))
struct FetchTests {
    /// Ten people: names a…j, ages with gaps; two of them in folders.
    private func store() throws -> (TestStore, ObjectContext) {
        let store = try TestStore()
        let context = store.context()
        let ages: [Int64?] = [30, nil, 20, 40, 30, nil, 10, 20, 50, 30]
        for (index, age) in ages.enumerated() {
            let person = try context.make("Person", String(UnicodeScalar(UInt8(97 + index))))
            try person.set("age", to: age.map { .integer($0) } ?? .null)
            if index % 5 == 0 { try person.add(try context.make("Folder", "f\(index)"), to: "folders") }
        }
        try context.flush()
        return (store, context)
    }

    private func names(_ context: ObjectContext, _ request: FetchRequest) throws -> [String] {
        var result: [String] = []
        try context.forEach(request) { result.append(try $0.string("name") ?? "-") }
        return result
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var predicate: String
        var variables: [String: Value] = [:]
        var expected: String
        var testDescription: String { predicate }
    }

    static let cases = [
        Case(predicate: "age == 30", expected: "aej"), Case(predicate: "age != 30", expected: "cdghi"),
        Case(predicate: "age == nil", expected: "bf"), Case(predicate: "age != nil", expected: "acdeghij"),
        Case(predicate: "age < 30", expected: "cgh"), Case(predicate: "age <= 30", expected: "aceghj"),
        Case(predicate: "age > 30", expected: "di"), Case(predicate: "age >= 30", expected: "adeij"),
        Case(predicate: "age == 30.0", expected: "aej"), Case(predicate: "age == 70000", expected: ""),
        Case(predicate: "age == $age", variables: ["age": .integer(20)], expected: "ch"),
        Case(predicate: "age != $age", variables: ["age": .null], expected: "acdeghij"),
        Case(predicate: "name == 'c'", expected: "c"), Case(predicate: "name > 'g'", expected: "hij"),
        Case(predicate: "name BEGINSWITH 'd'", expected: "d"), Case(predicate: "name ==[c] 'C'", expected: "c"),
        Case(predicate: "age == 30 AND name != 'a'", expected: "ej"),
        Case(predicate: "age == 30 AND name CONTAINS 'e'", expected: "e"),
        Case(predicate: "age == 10 OR age == 50", expected: "gi"),
        Case(predicate: "NOT age == 30", expected: "cdghi"), Case(predicate: "NOT age IN {30}", expected: "cdghi"),
        Case(predicate: "age != $age", variables: ["age": .integer(30)], expected: "cdghi"),
        Case(predicate: "age == $age", variables: ["age": .null], expected: "bf"),
        Case(predicate: "folders.@count > 0", expected: "af"),
        Case(predicate: "ANY folders.name == 'f5'", expected: "f"),
        Case(predicate: "TRUEPREDICATE", expected: "abcdefghij"), Case(predicate: "FALSEPREDICATE", expected: ""),
        Case(predicate: "age IN {10, 50}", expected: "gi"), Case(predicate: "age BETWEEN {20, 30}", expected: "acehj"),
    ]

    @Test("a predicate means the same in SQL and in Swift, for every batch size and context", arguments: cases)
    func predicates(_ test: Case) throws {
        let (store, context) = try store()
        for context in [context, store.reader()] {
            for batch in [1, 7, 1_000] {
                for sorted in [false, true] {
                    var request = FetchRequest("Person", where: test.predicate, test.variables)
                    request.fetchBatchSize = batch
                    if sorted { request.sort = [.init("name", ascending: false)] }
                    let expected = test.expected.map { String($0) }
                    #expect(try names(context, request) == (sorted ? expected.reversed() : expected))
                    #expect(try context.count(request) == expected.count)
                    request.fetchLimit = 2
                    let limited = Array((sorted ? expected.reversed() : expected).prefix(2))
                    #expect(try names(context, request) == limited)
                    #expect(try context.fetch(request).map { try $0.string("name") } == limited)
                    #expect(try context.count(request) == limited.count)
                }
            }
        }
    }

    @Test("SQLite and Swift evaluate a predicate to the same result", arguments: cases)
    func agreement(_ test: Case) throws {
        let (_, context) = try store()
        // A term that SQLite can't evaluate, true for all rows, makes Swift evaluate the other terms too.
        let both = FetchRequest("Person", where: "(\(test.predicate)) AND name LIKE '*'", test.variables)
        let inSwift = FetchRequest("Person", where: "NOT (NOT (\(test.predicate)))", test.variables)
        #expect(try names(context, both).joined() == test.expected)
        #expect(try names(context, inSwift).joined() == test.expected)
    }

    @Test("NULL sorts first; objects with equal keys come in the order in which they were made")
    func sorting() throws {
        let (store, context) = try store()
        for context in [context, store.reader()] {
            var request = FetchRequest("Person")
            request.sort = [.init("age")]
            #expect(try names(context, request).joined() == "bfgchaejdi")
            request.sort = [.init("age", ascending: false), .init("name", ascending: false)]
            #expect(try names(context, request).joined() == "idjeahcgfb")
            request.sort = [.init("folders")]
            #expect(throws: ObjectError.self) { try context.fetch(request) }
        }
    }

    @Test("subentities are part of the result, unless the request excludes them")
    func subentities() throws {
        let context = try TestStore().context()
        _ = try (context.insert("Note"), context.insert("Task"), context.insert("Note"))
        var request = FetchRequest("Item")
        #expect(try context.fetch(request).map(\.entityName) == ["Note", "Task", "Note"])
        #expect(try context.count(FetchRequest("Note")) == 2)
        request.includesSubentities = false
        #expect(try context.count(request) == 0)
    }

    @Test("the result is fixed at the beginning, whatever the body does", arguments: [1, 7, 1_000])
    func snapshot(batch: Int) throws {
        for predicate in [nil, "age != 99", "age != 99 AND name LIKE '*'"] as [String?] {
            for sorted in [false, true] {
                let (_, context) = try store()
                var request = FetchRequest("Person", where: predicate)
                request.fetchBatchSize = batch
                if sorted { request.sort = [.init("name")] }
                var seen = ""
                try context.forEach(request) { person in
                    let name = try person.string("name") ?? "-"
                    seen += name
                    // Makes more matching objects, changes later ones so that they no longer match, deletes others.
                    _ = try context.make("Person", name + "2")
                    if name == "c" { try context.fetch(FetchRequest("Person", where: "name == 'd'"))[0].delete() }
                    if name == "c" {
                        try context.fetch(FetchRequest("Person", where: "name == 'e'"))[0].set("age", to: .integer(99))
                    }
                    if name == "g" { try person.delete() }
                }
                // The age of b and f is NULL: no comparison with it holds.
                #expect(seen == (predicate == nil ? "abcefghij" : "aceghij"))
                #expect(try context.count(FetchRequest("Person")) == 10 - 2 + seen.count)
                #expect(try context.count(FetchRequest("Person", where: "age == 99")) == 1)
            }
        }
    }

    @Test("fetches inside of fetches work, and earlier changes are seen")
    func nested() throws {
        let (_, context) = try store()
        var request = FetchRequest("Person", where: "age == 30")
        request.sort = [.init("name", ascending: false)]
        var pairs: [String] = []
        try context.forEach(request) { outer in
            try outer.set("age", to: .integer(31))
            try context.forEach(request) { inner in
                pairs.append((try outer.string("name") ?? "") + (try inner.string("name") ?? ""))
            }
        }
        #expect(pairs == ["je", "ja", "ea"])
        #expect(try context.count(FetchRequest("Person", where: "age == 31")) == 3)
    }

    @Test("an error in the body ends the fetch, and the next one works")
    func failingBody() throws {
        struct Stop: Error {}
        let (_, context) = try store()
        var request = FetchRequest("Person")
        request.sort = [.init("name")]
        for _ in 0..<100 {
            #expect(throws: Stop.self) { try context.forEach(request) { _ in throw Stop() } }
        }
        #expect(try names(context, request).count == 10)
    }

    @Test("requests that don't fit the model are refused")
    func refused() throws {
        let (_, context) = try store()
        #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Nobody")) }
        #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Person", where: "nothing == 1")) }
        #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Person", where: "age ==")) }
        #expect(throws: (any Error).self) { try context.fetch(FetchRequest("Person", where: "age == $x")) }
    }
}
