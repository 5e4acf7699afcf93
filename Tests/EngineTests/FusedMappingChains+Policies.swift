import CausewayObjects

/// Histories whose last step has policies, gives new keys, or looks links up.
extension FusedMappingTests {
    static let note = attribute("note")

    static func parted(_ line: String = "") -> String {
        model(
            entity(
                "Line", attribute("code"), attribute("quantity", "Integer 32"), attribute("price", "Double"),
                attribute("day", "Date"), toOne("maker", "Maker"), line,
                toMany("parts", "Part", inverse: "line")),
            entity("Maker", attribute("name"), attribute("rank", "Integer 16")),
            entity("Part", attribute("text"), toOne("line", "Line", inverse: "parts")))
    }

    /// Links lead from lines to makers, and not back.
    static func oneWay(_ line: String = "") -> String {
        model(
            entity(
                "Line", attribute("code"), attribute("quantity", "Integer 32"), attribute("price", "Double"),
                attribute("day", "Date"), toOne("maker", "Maker"), line),
            entity("Maker", attribute("name"), attribute("rank", "Integer 16")))
    }

    private static func steps(
        _ policy: EntityMigrationPolicy.Type, keepingMakers: Bool = true, adding: String? = nil
    ) -> [SwiftMappingModel] {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") {
                    Filter("quantity != 17")
                    Compute("quantity", "$source.quantity + 1")
                    Compute("note", "TERNARY($source.quantity == 5, 'five', nil)")
                }
                TransformEntity("Maker") { if !keepingMakers { Filter("rank != 7") } }
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line", policy: policy) { Filter("quantity != 30") }
                TransformEntity("Maker")
                if let adding { AddEntity(adding) }
            },
        ]
    }

    static let policyChains = [
        Chain(
            testDescription: "a policy that splits rows",
            versions: [oneWay(), oneWay(note), parted(note)], together: [true]
        ) { steps(SplitLine.self, adding: "Part") },
        Chain(
            testDescription: "a policy that splits rows whose links end",
            versions: [oneWay(), oneWay(note), parted(note)], together: [true]
        ) { steps(SplitLine.self, keepingMakers: false, adding: "Part") },
        Chain(
            testDescription: "a policy with a stage 2 of its own",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true]
        ) { steps(LateSplitLine.self) },
        Chain(
            testDescription: "a policy that makes several rows of one",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true]
        ) { steps(ManyLines.self) },
        Chain(
            testDescription: "a policy that follows a link of a few rows",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true], fallsBack: true
        ) { steps(LookingLine.self) },
        Chain(
            testDescription: "a policy that says that it follows links",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [false]
        ) { steps(HonestLookingLine.self) },
        Chain(
            testDescription: "a policy that reads links which all lead somewhere",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true],
            rows: { rows($0) + "UPDATE ZLINE SET ZMAKER = NULL WHERE ZMAKER NOT IN (SELECT Z_PK FROM ZMAKER);" }
        ) { steps(LinkedLine.self) },
        Chain(
            testDescription: "a policy that reads links which may end",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true], fallsBack: true
        ) { steps(LinkedLine.self, keepingMakers: false) },
        Chain(
            testDescription: "a policy that fetches before the first row",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true], fallsBack: true
        ) { steps(PreparedLine.self) },
        Chain(
            testDescription: "a policy's function in expressions, after an inferred step and before no other",
            versions: [
                oneWay(), oneWay(attribute("colour", default: "red")), oneWay(attribute("twice", "Integer 64")),
            ],
            together: [true]
        ) {
            [
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: CallingLine.self) {
                        Compute("twice", "FUNCTION($entityPolicy, 'double:', $source.quantity)")
                        Compute("code", "$source.colour")
                    }
                    TransformEntity("Maker")
                }
            ]
        },
        Chain(
            testDescription: "rows of two entities that become one",
            versions: [
                model(entity("A", attribute("x", "Integer 32")), entity("B", attribute("x", "Integer 32"))),
                model(
                    entity("A", attribute("x", "Integer 32"), note), entity("B", attribute("x", "Integer 32"), note)),
                model(entity("Whole", attribute("x", "Integer 32"), note)),
            ], together: [true], rows: pairs
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("A") {
                        Filter("x != 3")
                        Compute("note", "TERNARY($source.x > 50, 'large', 'small')")
                    }
                    TransformEntity("B") { Compute("x", "$source.x * 2") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("A", to: "Whole")
                    TransformEntity("B", to: "Whole") { Filter("x != 8") }
                },
            ]
        },
        Chain(
            testDescription: "links that are chosen among those of the row",
            versions: [MappedRowTests.texts, toned, MappedRowTests.merged], together: [true], rows: remarks
        ) { merging(filter: nil, subject: true) },
        Chain(
            testDescription: "links that are chosen among those of the row, and may end",
            versions: [MappedRowTests.texts, toned, MappedRowTests.merged], together: [true], rows: remarks,
            fallsBack: true
        ) { merging(filter: "body != 'draft 5'", subject: true) },
        Chain(
            testDescription: "links that are looked up, and may end",
            versions: [MappedRowTests.texts, toned, MappedRowTests.merged], together: [true],
            rows: { remarks($0) + "UPDATE ZREMARK SET ZLETTER = ZLETTER + 1 WHERE Z_PK % 19 = 0;" }
        ) { merging(filter: "body != 'draft 5'", subject: false) },
        Chain(
            testDescription: "links of rows with new keys to rows that are made later",
            versions: [owned(), owned(attribute("more")), ownedTogether], together: [true], rows: ownedRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("A") { Compute("x", "$source.x + 1") }
                    TransformEntity("B") { Filter("x != 3") }
                    TransformEntity("S") { Filter("x != 4") }
                    TransformEntity("T")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("A", to: "Whole") { Link("owner", from: "s", through: "SToOwner") }
                    TransformEntity("B", to: "Whole") { Link("owner", from: "t", through: "TToOwner") }
                    TransformEntity("S", to: "Owner") { Filter("x != 8") }
                    TransformEntity("T", to: "Owner") { Filter("x != 8") }
                },
            ]
        },
    ]

    private static func owned(_ own: String = "") -> String {
        let x = attribute("x", "Integer 32")
        return model(
            entity("A", x, own, toOne("s", "S")), entity("B", x, own, toOne("t", "T")), entity("S", x, own),
            entity("T", x, own))
    }

    private static let ownedTogether = model(
        entity("Owner", attribute("x", "Integer 32")),
        entity("Whole", attribute("x", "Integer 32"), toOne("owner", "Owner")))

    private static let ownedRows: @Sendable (Int) -> String = { count in
        ["S", "T", "A", "B"].map { name in
            let place = ["A": 1, "B": 2, "S": 3, "T": 4][name] ?? 0
            let link = place < 3 ? ", Z\(name == "A" ? "S" : "T")" : ""
            return """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO Z\(name) (Z_PK, Z_ENT, Z_OPT, ZX\(link))
                SELECT i * 2, \(place), 1, i % 100 \(link.isEmpty ? "" : ", (i * 7 % \(count) + 1) * 2") FROM n;
                """
        }.joined()
    }

    /// Draft 1, Letter 2, Remark 3.
    private static let toned = MappedRowTests.texts.replacing(
        attribute("words"), with: attribute("words") + attribute("tone"))

    private static let remarks: @Sendable (Int) -> String = { count in
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
        return """
            \(numbers) INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZBODY) SELECT i * 2, 1, 1, 'draft ' || i FROM n;
            \(numbers) INSERT INTO ZLETTER (Z_PK, Z_ENT, Z_OPT, ZBODY, ZSIZE)
            SELECT i * 2, 2, 1, 'letter ' || i, i % 9 FROM n;
            \(numbers) INSERT INTO ZREMARK (Z_PK, Z_ENT, Z_OPT, ZWORDS, ZDRAFT, ZLETTER)
            SELECT i, 3, 1, 'remark ' || i, iif(i % 3, (i * 7 % \(count) + 1) * 2, NULL),
                iif(i % 4, (i * 11 % \(count) + 1) * 2, NULL)
            FROM n;
            """
    }

    private static func merging(filter: String?, subject: Bool) -> [SwiftMappingModel] {
        func moved(_ entity: String) -> String {
            """
            FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "\(entity)ToText", \
            $source.\(entity.lowercased()))
            """
        }
        let chosen = "TERNARY($source.draft != nil, \(moved("Draft")), \(moved("Letter")))"
        return [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Draft") { if let filter { Filter(filter) } }
                TransformEntity("Letter")
                TransformEntity("Remark") { Compute("tone", "uppercase:($source.words)") }
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Draft", to: "Text")
                TransformEntity("Letter", to: "Text") { Filter("size != 3") }
                TransformEntity("Remark") {
                    Compute("words", "$source.tone")
                    Link("subject", subject ? chosen : moved("Letter"))
                    Link("other", "\(moved("Letter"))")
                }
            },
        ]
    }

    private static let pairs: @Sendable (Int) -> String = { count in
        ["A", "B"].enumerated().map { place, name in
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO Z\(name) (Z_PK, Z_ENT, Z_OPT, ZX) SELECT i * 2, \(place + 1), 1, i % 100 FROM n;
            """
        }.joined()
    }

    /// A policy fails at what breaks a rule of the version between.
    static let failingPolicy = Chain(
        testDescription: "a row that breaks a rule, at which a policy fails",
        versions: [
            oneWay(), oneWay(attribute("large", "Integer 32", extra: "maxValueString=\"90000\"")),
            oneWay(attribute("large", "Integer 32")),
        ], together: [true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Compute("large", "$source.quantity * 1000") }
                TransformEntity("Maker")
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line", policy: FailingLine.self)
                TransformEntity("Maker")
            },
        ]
    }
}
