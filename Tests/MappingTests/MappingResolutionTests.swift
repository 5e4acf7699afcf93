import CausewayExpressions
import CausewayMapping
import CausewayModel
import Testing

@Suite("Resolving mapping models", .timeLimit(.minutes(60)))
struct MappingResolutionTests {
    private static let source = model(
        entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
        entity(
            "Book", attribute("title"), attribute("isPublished", "Boolean"),
            toOne("author", "Author", inverse: "books")),
        entity("Draft", attribute("title")))
    private static let destination = model(
        entity("Author", attribute("name"), toMany("books", "Publication", inverse: "author")),
        entity(
            "Publication", attribute("heading", was: "title"), attribute("isPublished", "Boolean"), attribute("note"),
            toOne("author", "Author", inverse: "books")))

    private func resolve(
        _ mappings: [EntityMappingDescription], form: MappingModelDescription.Form = .code
    ) throws -> ResolvedMapping {
        try MappingModelDescription(name: "M", form: form, entityMappings: mappings).resolved(
            from: try ModelReader.model(source: Array(Self.source.utf8)),
            to: try ModelReader.model(source: Array(Self.destination.utf8)))
    }

    private func problems(
        _ mappings: [EntityMappingDescription], form: MappingModelDescription.Form = .code
    ) throws -> [MappingResolutionError.Problem] {
        do {
            _ = try resolve(mappings, form: form)
            return []
        } catch let error as MappingResolutionError {
            return error.problems
        }
    }

    private func edited(
        _ source: String?, _ destination: String?, _ attributes: [PropertyMappingDescription] = [],
        _ relationships: [PropertyMappingDescription] = [], name: String? = nil
    ) -> EntityMappingDescription {
        var mapping = EntityMappingDescription(
            name: name ?? EntityMappingDescription.defaultName(source: source, destination: destination),
            kind: .undefined, sourceEntity: source, destinationEntity: destination)
        mapping.attributeMappings = attributes
        mapping.relationshipMappings = relationships
        return mapping
    }

    private func automatic(_ name: String) -> PropertyMappingDescription {
        PropertyMappingDescription(name: name, expression: nil, origin: .automatic)
    }

    // MARK: - Kinds and names

    @Test("an undefined kind follows from the entities, the policy and the hashes")
    func kinds() throws {
        var custom = edited("Book", "Publication")
        custom.policyClassName = "App.BookPolicy"
        var added = edited(nil, "Publication")
        added.policyClassName = ""
        let resolved = try resolve([custom, added, edited("Author", "Author"), edited("Draft", nil)], form: .editor)
        #expect(resolved.entityMappings.map(\.mapping.kind) == [.custom, .add, .transform, .remove])
        #expect(
            resolved.entityMappings.map(\.mapping.name) == [
                "BookToPublication", "Publication", "AuthorToAuthor", "Draft",
            ])
        #expect(resolved.entityMappings.map { $0.mapping.sourceHash?.count } == [32, nil, 32, 32])
        #expect(resolved.entityMappings.map { $0.mapping.destinationHash?.count } == [32, 32, 32, nil])
        #expect(resolved.entityMappings[1].mapping.policyClassName == nil)
    }

    @Test(
        "a kind that its entities contradict is a mistake",
        arguments: [
            (EntityMappingKind.add, "Book", "Publication"), (.remove, "Book", "Publication"), (.copy, "Book", nil),
            (.transform, nil, "Publication"), (.custom, nil, nil), (.undefined, nil, nil),
        ] as [(EntityMappingKind, String?, String?)])
    func contradictions(kind: EntityMappingKind, source: String?, destination: String?) throws {
        var mapping = edited(source, destination, name: "X")
        mapping.kind = kind
        #expect(try problems([mapping]).map(\.code) == [.contradiction])
    }

    @Test(
        "without a class of its own, a custom mapping has the default policy",
        arguments: [nil, "NSEntityMigrationPolicy"] as [String?])
    func defaultPolicy(name: String?) throws {
        var mappings = [edited("Book", "Publication"), edited(nil, "Author"), edited("Draft", nil)]
        for index in mappings.indices {
            mappings[index].kind = .custom
            mappings[index].policyClassName = name
        }
        let resolved = try resolve(mappings, form: .compiled).entityMappings.map(\.mapping)
        #expect(resolved.map(\.kind) == [.transform, .add, .remove])
        #expect(resolved.allSatisfy { $0.policyClassName == nil })
    }

    @Test("copy and transform are distinguished by the hashes, whatever the file says")
    func copyOfUnequalHashes() throws {
        var mapping = edited("Author", "Author")
        mapping.kind = .copy
        #expect(try resolve([mapping]).entityMappings[0].mapping.kind == .transform)
    }

    // MARK: - Default expressions

    @Test("an attribute's default is the source's attribute of that name, and nothing without one")
    func attributeDefaults() throws {
        let mapping = edited(
            "Book", "Publication", [automatic("note"), automatic("isPublished"), automatic("heading")])
        let resolved = try resolve([mapping], form: .editor).entityMappings[0].mapping
        #expect(resolved.attributeMappings.map(\.name) == ["heading", "isPublished", "note"])
        #expect(resolved.attributeMappings.map { $0.expression?.formatString } == [nil, "$source.isPublished", nil])
    }

    @Test("a relationship's default names the one entity mapping that carries its objects over")
    func namedRelationshipDefault() throws {
        let mappings = [
            edited("Author", "Author", [], [automatic("books")]),
            edited("Book", "Publication", [], [automatic("author")]),
        ]
        let resolved = try resolve(mappings, form: .editor)
        #expect(
            resolved.entityMappings[0].mapping.relationshipMappings[0].expression
                == (try Expression(
                    parsing: """
                        FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', \
                        'BookToPublication', $source.books)
                        """)))
    }

    @Test("with several entity mappings, or none, the default is the source relationship", arguments: [0, 2])
    func relationshipDefault(count: Int) throws {
        let books = (0..<count).map { edited("Book", "Publication", name: "Part\($0)") }
        let resolved = try resolve([edited("Author", "Author", [], [automatic("books")])] + books, form: .editor)
        #expect(
            resolved.entityMappings[0].mapping.relationshipMappings[0].expression
                == (try Expression(
                    parsing: """
                        FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'books', \
                        $source.books)
                        """)))
    }

    /// The expression for the author's books where the one entity mapping of books is another model's.
    private func booksThrough(
        _ own: [EntityMappingDescription], _ others: [[EntityMappingDescription]]
    ) throws -> Expression? {
        let models = ([[edited("Author", "Author", [], [automatic("books")])] + own] + others).enumerated().map {
            MappingModelDescription(name: "M\($0.offset)", form: .editor, entityMappings: $0.element)
        }
        let resolved = try models[0].resolved(
            from: VersionedModel(model: try ModelReader.model(source: Array(Self.source.utf8))),
            to: VersionedModel(model: try ModelReader.model(source: Array(Self.destination.utf8))), beside: models)
        return resolved.entityMappings[0].mapping.relationshipMappings[0].expression
    }

    @Test("a name that several mapping models have doesn't lead to another model's entity mapping")
    func sharedNames() throws {
        let book = edited("Book", "Publication", name: "Part")
        let draft = edited("Draft", "Publication", name: "Part")
        let named = try Expression(
            parsing: """
                FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Part', $source.books)
                """)
        let any = try Expression(
            parsing: """
                FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'books', \
                $source.books)
                """)
        #expect(try booksThrough([], [[book]]) == named)
        #expect(try booksThrough([book], [[draft]]) == named)
        #expect(try booksThrough([draft], [[book]]) == any)
        #expect(try booksThrough([], [[book], [draft]]) == any)
    }

    @Test("a written expression is kept, and nil leaves the property alone")
    func writtenExpressions() throws {
        let mapping = edited(
            "Book", "Publication",
            [
                PropertyMappingDescription(name: "heading", expression: .constant(.string("x"))),
                PropertyMappingDescription(name: "note", expression: nil),
            ])
        let resolved = try resolve([mapping], form: .compiled).entityMappings[0].mapping
        #expect(
            resolved
                == {
                    var same = mapping; same.kind = .transform; same.sourceHash = resolved.sourceHash
                    same.destinationHash = resolved.destinationHash; return same
                }())
    }

    // MARK: - Rows

    private static let requests = [
        "FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', 'isPublished == 1')",
        "FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:includesSubentities:', 'Book', "
            + "'isPublished == 1', NO)",
    ]

    @Test(
        "a fetch of the source entity becomes a plain filter, in all spellings", arguments: requests,
        ["$manager.sourceContext", "FUNCTION($manager, 'sourceContext')"])
    func fetchForms(request: String, context: String) throws {
        var mapping = edited("Book", "Publication")
        mapping.sourceExpression = try Expression(parsing: "FETCH(\(request), \(context), NO)")
        let resolved = try resolve([mapping], form: .compiled).entityMappings[0]
        #expect(
            resolved.rows == .entity(filter: try Predicate(parsing: "isPublished == 1"), includesSubentities: false))
        #expect(resolved.mapping.sourceExpression == mapping.sourceExpression)
    }

    @Test("a fetch may include subentities")
    func subentities() throws {
        var mapping = edited("Book", "Publication")
        mapping.sourceExpression = try Expression(
            parsing: """
                FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:includesSubentities:', \
                'Book', 'TRUEPREDICATE', YES), $manager.sourceContext, NO)
                """)
        #expect(
            try resolve([mapping], form: .compiled).entityMappings[0].rows
                == .entity(filter: nil, includesSubentities: true))
    }

    @Test(
        "any other source expression stays a collection",
        arguments: [
            "FETCH(FUNCTION($manager, 'customFetchRequest:', 'Book'), $manager.sourceContext, NO)",
            "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Draft', 'TRUEPREDICATE'), "
                + "$manager.sourceContext, NO)",
            "FUNCTION($entityPolicy, 'books')",
        ])
    func collections(text: String) throws {
        var mapping = edited("Book", "Publication")
        mapping.sourceExpression = try Expression(parsing: text)
        #expect(
            try resolve([mapping], form: .compiled).entityMappings[0].rows
                == .collection(try Expression(parsing: text)))
    }

    @Test("a filter text becomes the fetch that Xcode compiles")
    func filterText() throws {
        var mapping = edited("Book", "Publication")
        mapping.filter = "title MATCHES '[a-h].*'"
        let resolved = try resolve([mapping], form: .editor).entityMappings[0]
        #expect(resolved.filter == (try Predicate(parsing: "title MATCHES '[a-h].*'")))
        #expect(resolved.mapping.filter == nil)
        #expect(
            resolved.mapping.sourceExpression
                == (try Expression(
                    parsing: """
                        FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', \
                        "title MATCHES '[a-h].*'"), $manager.sourceContext, NO)
                        """)))
    }

    // MARK: - Mistakes

    @Test("all mistakes are reported at once, each with its mapping and property")
    func allMistakes() throws {
        var filtered = edited("Book", "Publication", [automatic("pages"), automatic("author")], [automatic("note")])
        filtered.filter = "title =="
        filtered.relationshipMappings.append(
            PropertyMappingDescription(
                name: "author", expression: nil, origin: .keyPath("$source.author", mapping: "Nobody")))
        let found = try problems(
            [filtered, edited("Novel", "Novella"), edited("Draft", nil), edited("Draft", nil)], form: .editor)
        #expect(
            found.map { "\($0.mapping).\($0.property ?? "-") \($0.code)" } == [
                "NovelToNovella.- unknownEntity", "NovelToNovella.- unknownEntity", "Draft.- contradiction",
                "BookToPublication.- malformed", "BookToPublication.author contradiction",
                "BookToPublication.pages unknownProperty", "BookToPublication.author unknownProperty",
                "BookToPublication.note unknownProperty", "BookToPublication.author unknownMapping",
            ])
    }

    @Test("an expression may name only existing entities and entity mappings")
    func namesInExpressions() throws {
        let call = try Expression(
            parsing: """
                TERNARY(isPublished == 1, FUNCTION($manager, \
                'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Gone', $source), nil)
                """)
        let mapping = edited(
            "Book", "Publication", [], [PropertyMappingDescription(name: "author", expression: call)])
        #expect(try problems([mapping], form: .compiled).map(\.code) == [.unknownMapping])
        var rows = edited("Book", "Publication")
        rows.sourceExpression = try Expression(
            parsing: """
                FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Gone', 'TRUEPREDICATE'), \
                $manager.sourceContext, NO)
                """)
        #expect(try problems([rows], form: .compiled).map(\.code) == [.unknownEntity])
    }

    @Test("an empty mapping model is a mistake")
    func empty() throws {
        #expect(try problems([]).map(\.code) == [.contradiction])
    }
}
