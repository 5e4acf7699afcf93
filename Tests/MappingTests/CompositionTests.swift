import CausewayExpressions
import CausewayMapping
import Testing

@Suite("Two mappings as one", .timeLimit(.minutes(60)))
struct CompositionTests {
    private func composed(_ a: String, _ b: String, _ c: String) throws -> MappingModel? {
        try inferred(a, b, step: 0).composed(with: try inferred(b, c, step: 1))
    }

    @Test("renames, replacements and constants are composed")
    func values() throws {
        let mapping = try #require(
            try composed(
                thing(attribute("a"), attribute("b")),
                thing(
                    attribute("a", optional: false, default: "x"), attribute("b2", was: "b"),
                    attribute("new", default: "n"), attribute("empty")),
                thing(
                    attribute("z", optional: false, default: "y", was: "a"),
                    attribute("b3", optional: false, default: "w", was: "b"), attribute("new", default: "other"),
                    attribute("empty", optional: false, default: "e"))))
        #expect(mapping.value("z") == .carried(from: "a", nilReplacement: .string("x")))
        #expect(mapping.value("b3") == .carried(from: "b", nilReplacement: .string("w")))
        #expect(mapping.value("new") == .constant(.string("n")), "the default of the version that adds it")
        #expect(mapping.value("empty") == .constant(.string("e")))
    }

    @Test("a removed property that is added again under its name starts with its default")
    func cameBack() throws {
        let full = model(entity("Thing", attribute("a"), toOne("other", "Other")), entity("Other"))
        let bare = model(entity("Thing"), entity("Other"))
        let mapping = try #require(try composed(full, bare, full))
        #expect(mapping.value("a") == .constant(nil))
        #expect(mapping.links("other", of: "Thing") == nil)
        let entity = try #require(try composed(full, model(entity("Other")), full))
        #expect(entity.mapping(to: "Thing")?.kind == .add)
        #expect(entity.mapping(from: "Thing")?.kind == .remove)
    }

    @Test("an added entity that is renamed is an addition, a removed one a removal")
    func entities() throws {
        let mapping = try #require(
            try composed(
                model(entity("A"), entity("B")), model(entity("B"), entity("C")),
                model(entity("D", was: "C"), entity("B"))))
        #expect(mapping.entityMappings.map(\.name) == ["IEM_Copy_B", "IEM_Add_D", "IEM_Remove_A"])
    }

    @Test("links are followed through inverses in both mappings")
    func links() throws {
        func version(_ books: String, _ author: String, _ authorWas: String? = nil) -> String {
            model(
                entity("Author", toMany(books, "Book", inverse: author)),
                entity("Book", toOne(author, "Author", inverse: books, was: authorWas)))
        }
        let once = try #require(
            try composed(version("books", "author"), version("works", "author"), version("works", "writer")))
        // works ← author (inverted); writer ← works ← author: inverted twice.
        #expect(
            once.links("works", of: "Author")
                == LinkSource(entity: "Book", relationship: "author", isInverted: true, changesForm: false))
        #expect(
            once.links("writer", of: "Book")
                == LinkSource(entity: "Book", relationship: "author", isInverted: false, changesForm: false))
    }

    @Test("barriers: a form that changes twice, beside a removed entity, and a derived value that is carried on")
    func barriers() throws {
        func version(_ books: String, _ extra: String = "") -> String {
            model(entity("Author", books), entity("Book", toOne("author", "Author", inverse: "books")), extra)
        }
        let plain = toMany("books", "Book", inverse: "author")
        let ordered = toMany("books", "Book", inverse: "author", ordered: true)
        #expect(try composed(version(plain), version(ordered), version(plain)) == nil)
        #expect(try composed(version(plain), version(plain), version(ordered)) != nil)
        #expect(try composed(version(plain, entity("X")), version(plain), version(ordered)) == nil)
        #expect(try composed(version(plain, entity("X")), version(ordered, entity("X")), version(ordered)) == nil)
        let derivation = "derived=\"YES\" derivationExpression=\"name\""
        let derived = thing(attribute("name"), attribute("copy", extra: derivation))
        let name = thing(attribute("name"))
        #expect(try composed(name, derived, derived) == nil)
        #expect(try composed(name, name, derived) != nil)
        #expect(try composed(derived, derived, name) != nil)
    }

    @Test("obligations become conditions of the source's rows, and keep their version")
    func obligations() throws {
        let must = attribute("m", optional: false)
        func obligations(_ a: String, _ b: String, _ c: String) throws -> [Obligation]? {
            try composed(a, b, c)?.mapping(from: "Thing")?.obligations
        }
        #expect(
            try obligations(
                thing(attribute("a")), thing(attribute("b", was: "a")), thing(attribute("b", optional: false)))
                == [
                    Obligation(
                        step: 1, entity: "Thing", property: "b", .tightenedAttribute, demand: .noNulls(attribute: "a"))
                ])
        #expect(
            try obligations(thing(), thing(attribute("m")), thing(must))
                == [Obligation(step: 1, entity: "Thing", property: "m", .tightenedAttribute, demand: .noRows)])
        #expect(try obligations(thing(), thing(attribute("m", default: "x")), thing(must)) == [])
        // The attribute is dropped again, but the version in between can't hold such rows.
        #expect(
            try obligations(thing(), thing(must), thing())
                == [Obligation(step: 0, entity: "Thing", property: "m", .newAttribute, demand: .noRows)])
        #expect(
            try obligations(thing(attribute("m")), thing(must), model(entity("Other")))
                == [
                    Obligation(
                        step: 0, entity: "Thing", property: "m", .tightenedAttribute, demand: .noNulls(attribute: "m"))
                ])
    }

    @Test("a composed mapping gives the same rows as both mappings, on random histories", arguments: 0..<40)
    func randomHistories(seed: Int) throws {
        var random = Generator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        for _ in 0..<10 {
            var shape = Shape(&random)
            let versions = (0..<4).map { _ in
                shape.evolve(&random)
                return shape.text
            }
            let steps = try zip(versions, versions.dropFirst()).enumerated().map { index, pair in
                try inferred(pair.0, pair.1, step: index)
            }
            var fused = steps[0]
            for step in steps.dropFirst() { fused = try #require(fused.composed(with: step)) }
            let start = rows(of: versions[0], &random)
            var (state, violations) = (start, Set<String>())
            for step in steps {
                violations.formUnion(step.violations(in: state))
                state = step.applied(to: state)
            }
            #expect(fused.applied(to: start) == state)
            #expect(fused.violations(in: start) == violations)
        }
    }

    private func rows(of text: String, _ random: inout Generator) -> Rows {
        guard let mapping = try? inferred(text, text) else { return [:] }
        var result: Rows = [:]
        for entity in mapping.entityMappings {
            result[entity.destination ?? ""] = (0..<Int.random(in: 0...3, using: &random)).map { index in
                var row: [String: Constant] = [:]
                for attribute in entity.attributes where Bool.random(using: &random) {
                    row[attribute.destination] = .string("\(attribute.destination)\(index)")
                }
                return row
            }
        }
        return result
    }
}

/// Rows by entity; a value that isn't there is nil.
private typealias Rows = [String: [[String: Constant]]]

extension MappingModel {
    /// The rows that a mapping makes.
    fileprivate func applied(to rows: Rows) -> Rows {
        var result: Rows = [:]
        for entity in entityMappings {
            guard let to = entity.destination else { continue }
            let sources = entity.source.flatMap { rows[$0] } ?? []
            result[to, default: []] += sources.map { row in
                var made: [String: Constant] = [:]
                for attribute in entity.attributes {
                    switch attribute.value {
                    case .carried(let from, let replacement, _): made[attribute.destination] = row[from] ?? replacement
                    case .constant(let constant): made[attribute.destination] = constant
                    case .derived: break
                    }
                }
                return made
            }
        }
        return result
    }

    fileprivate func violations(in rows: Rows) -> Set<String> {
        var result = Set<String>()
        for entity in entityMappings {
            let sources = entity.source.flatMap { rows[$0] } ?? []
            for obligation in entity.obligations {
                let isBroken =
                    switch obligation.demand {
                    case .noRows: !sources.isEmpty
                    case .noNulls(let attribute): sources.contains { $0[attribute] == nil }
                    // The random histories have no relationships.
                    case .noMissing, .noEnding: false
                    }
                if isBroken { result.insert("\(obligation.step) \(obligation.entity).\(obligation.property ?? "")") }
            }
        }
        return result
    }
}

/// A model that changes at random.
private struct Shape {
    private struct Property {
        var name: String
        var was: String?
        var isOptional: Bool
        var hasDefault: Bool
    }

    private struct Member {
        var name: String
        var was: String?
        var properties: [Property]
    }

    private var members: [Member] = []
    private var serial = 0

    init(_ random: inout Generator) {
        for _ in 0..<3 { add(&random) }
    }

    var text: String {
        model(
            members.map { member in
                entity(
                    member.name, was: member.was,
                    member.properties.map {
                        attribute(
                            $0.name, optional: $0.isOptional, default: $0.hasDefault ? "d\($0.name)" : nil, was: $0.was)
                    }.joined())
            }.joined())
    }

    mutating func evolve(_ random: inout Generator) {
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(&random) }
    }

    private mutating func change(_ random: inout Generator) {
        guard let index = members.indices.randomElement(using: &random) else { return add(&random) }
        serial += 1
        switch Int.random(in: 0..<8, using: &random) {
        case 0: add(&random)
        case 1: members.remove(at: index)
        case 2:
            members[index].was = members[index].was ?? members[index].name
            members[index].name = "E\(serial)"
        case 3, 4: members[index].properties.append(property(&random))
        default:
            guard let place = members[index].properties.indices.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: members[index].properties.remove(at: place)
            case 1:
                let old = members[index].properties[place]
                members[index].properties[place].was = old.was ?? old.name
                members[index].properties[place].name = "p\(serial)"
            default:
                members[index].properties[place].isOptional.toggle()
                members[index].properties[place].hasDefault = Bool.random(using: &random)
            }
        }
    }

    private mutating func add(_ random: inout Generator) {
        serial += 1
        members.append(Member(name: "E\(serial)", was: nil, properties: [property(&random), property(&random)]))
    }

    private mutating func property(_ random: inout Generator) -> Property {
        serial += 1
        return Property(
            name: "p\(serial)", was: nil, isOptional: Bool.random(using: &random),
            hasDefault: Bool.random(using: &random))
    }
}

/// SplitMix64: the same histories in every run.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
