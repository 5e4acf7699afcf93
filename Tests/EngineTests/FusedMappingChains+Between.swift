import CausewayObjects

/// Histories in which a policy makes the rows of a step that others follow.
extension FusedMappingTests {
    /// Without links, which a policy's mapping looks up in stage 2.
    private static func lone(_ line: String = "") -> String {
        model(
            entity(
                "Line", attribute("code"), attribute("quantity", "Integer 32"), attribute("price", "Double"), line),
            entity("Maker", attribute("name"), attribute("rank", "Integer 16")))
    }

    private static let three = [lone(), lone(note), lone(note)]

    private static let lines: @Sendable (Int) -> String = { count in
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
        return """
            \(numbers) INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZQUANTITY, ZPRICE)
            SELECT i * 2, 1, 1, iif(i % 7, 'line ' || i, NULL), i % 100, i / 8.0 FROM n;
            \(numbers) INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK)
            SELECT i, 2, 1, 'maker ' || i, i % 9 FROM n;
            """
    }

    /// A policy in the first step, and a mapping after it.
    private static func first(
        _ policy: EntityMigrationPolicy.Type?, makers: EntityMigrationPolicy.Type? = nil
    ) -> [SwiftMappingModel] {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                if let policy {
                    TransformEntity("Line", policy: policy) { Filter("quantity != 17") }
                } else {
                    TransformEntity("Line")
                }
                if let makers { TransformEntity("Maker", policy: makers) } else { TransformEntity("Maker") }
            },
            after(from: "V2", to: "V3"),
        ]
    }

    private static func after(from: String, to: String) -> SwiftMappingModel {
        SwiftMappingModel(from: from, to: to) {
            TransformEntity("Line") {
                Filter("quantity != 30")
                Compute("code", "TERNARY($source.note != nil, $source.note, $source.code)")
                Compute("quantity", "$source.quantity * 2")
            }
            TransformEntity("Maker")
        }
    }

    static let betweenChains = [
        Chain(testDescription: "a policy before a mapping", versions: three, together: [true], rows: lines) {
            first(NotingLine.self)
        },
        Chain(
            testDescription: "a policy that leaves rows out, to which links lead",
            versions: [oneWay(), oneWay(note), oneWay(note)], together: [true]
        ) { first(nil, makers: SparseMaker.self) },
        Chain(
            testDescription: "a policy before a mapping, with links", versions: [oneWay(), oneWay(note), oneWay(note)],
            together: [false]
        ) { first(NotingLine.self) },
        Chain(
            testDescription: "a policy between mappings", versions: [lone()] + three, together: [true, true],
            rows: lines
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") { Compute("quantity", "$source.quantity + 1") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: NotingLine.self) { Filter("quantity != 17") }
                    TransformEntity("Maker")
                },
                after(from: "V3", to: "V4"),
            ]
        },
        Chain(testDescription: "a policy before a policy", versions: three, together: [true], rows: lines) {
            [
                first(NotingLine.self)[0],
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: NotingLine.self)
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a policy before an inferred step",
            versions: [lone(), lone(note), lone(note + attribute("colour", default: "red"))], together: [true],
            rows: lines
        ) { [first(NotingLine.self)[0]] },
        Chain(
            testDescription: "a policy between an inferred step and a mapping",
            versions: [
                lone(), lone(attribute("colour", default: "red")),
                lone(attribute("colour", default: "red") + note), lone(note),
            ], together: [true, true], rows: lines
        ) {
            [
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: NotingLine.self)
                    TransformEntity("Maker")
                },
                after(from: "V3", to: "V4"),
            ]
        },
        Chain(
            testDescription: "an inferred step between mappings",
            versions: [oneWay(), oneWay(note), oneWay(note + attribute("colour", default: "red")), oneWay(note)],
            together: [true, true]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") {
                        Filter("quantity != 17")
                        Compute("note", "TERNARY($source.quantity == 5, 'five', nil)")
                    }
                    TransformEntity("Maker") { Filter("rank != 7") }
                },
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line") {
                        Compute("note", "TERNARY($source.note != nil, $source.note, $source.colour)")
                        Compute("quantity", "$source.quantity * 2")
                    }
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "an inferred step between a policy and a policy that splits rows",
            versions: [lone(), lone(note), lone(note + attribute("colour", default: "red")), lone(note)],
            together: [true, true], rows: lines
        ) {
            [
                first(NotingLine.self)[0],
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line", policy: SometimesTwoLines.self) {
                        Compute("note", "TERNARY($source.note != nil, $source.note, $source.colour)")
                    }
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription:
                "an inferred step between mappings whose numbers become smaller, and inferred steps around",
            versions: [
                lone(), lone(attribute("size", "Integer 64", default: "7")),
                lone(attribute("size", "Integer 64") + note), lone(attribute("size", "Integer 16") + note),
                lone(note), lone(note + attribute("last", default: "x")),
            ], together: [true, true, true, true], rows: lines
        ) {
            [
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line") { Compute("size", "$source.size + $source.quantity") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V4", to: "V5") {
                    TransformEntity("Line") { Compute("quantity", "$source.size * 3") }
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a policy of the first step that fetches", versions: three, together: [true], rows: lines
        ) { first(CountedLine.self) },
        Chain(
            testDescription: "a policy of a later step that fetches", versions: [lone()] + three,
            together: [true, true], rows: lines, fallsBack: true
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") { Compute("quantity", "$source.quantity + 1") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: CountedLine.self)
                    TransformEntity("Maker")
                },
                after(from: "V3", to: "V4"),
            ]
        },
        Chain(
            testDescription: "a policy before a mapping that makes two rows of a few", versions: three,
            together: [true], rows: lines, fallsBack: true
        ) { first(SometimesTwoLines.self) },
        Chain(
            testDescription: "a policy before a mapping that counts its rows at the end", versions: three,
            together: [true], rows: lines, fallsBack: true
        ) { first(CountingLine.self) },
        Chain(
            testDescription: "a policy before a mapping, with a stage 2 of its own", versions: three, together: [false],
            rows: lines
        ) { first(LateSplitLine.self) },
        Chain(
            testDescription: "a policy before one with a stage 2 of its own", versions: three, together: [false],
            rows: lines
        ) {
            [
                first(NotingLine.self)[0],
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line", policy: LateSplitLine.self)
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "policies of several mappings before a mapping", versions: three, together: [false],
            rows: lines
        ) { first(NotingLine.self, makers: SparseMaker.self) },
        Chain(
            testDescription: "policies of several mappings, of which one tells the other something", versions: three,
            together: [false], rows: lines
        ) { first(TellingLine.self, makers: ToldMaker.self) },
        Chain(
            testDescription:
                "a policy before a mapping that looks for a row at the end, and says nothing where it can't",
            versions: three, together: [true], rows: lines, fallsBack: true
        ) { first(FindingLine.self) },
        Chain(
            testDescription: "an inferred step before a hierarchy that is taken apart",
            versions: [animals(), animals(note), apart], together: [false], rows: kinds
        ) {
            [
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Cat", to: "Feline")
                    TransformEntity("Dog", to: "Canine")
                }
            ]
        },
    ]

    /// Statements make the rows, whose pages follow from the batches.
    static let appending = Chain(
        testDescription: "a policy that appends to ordered relationships of rows that a mapping makes",
        versions: [places(), places(note)], together: [], rows: placed
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Part")
                TransformEntity("Whole", policy: AppendingWhole.self)
            }
        ]
    }

    /// Links to keys above all others, which rows with new keys get.
    static let beyond = Chain(
        testDescription: "links to no row, whose keys new rows get",
        versions: [wholes(), wholes(note), joined], together: [true]
    ) { count in
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
        return """
            \(numbers) INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX) SELECT i, 1, 1, i FROM n;
            \(numbers) INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZX) SELECT i, 2, 1, -i FROM n;
            \(numbers) INSERT INTO ZREM (Z_PK, Z_ENT, Z_OPT, ZA, ZX) SELECT i, 3, 1, iif(i % 9, i, \(count) + i), i FROM n;
            """
    } mappings: {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("A") { Compute("note", "'a'") }
                TransformEntity("B")
                TransformEntity("Rem")
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("A", to: "Whole")
                TransformEntity("B", to: "Whole")
                TransformEntity("Rem") { Link("a", from: "a", through: "AToWhole") }
            },
        ]
    }

    private static func wholes(_ own: String = "") -> String {
        let x = attribute("x", "Integer 32")
        return model(entity("A", x, own), entity("B", x, own), entity("Rem", x, toOne("a", "A")))
    }

    private static let joined = model(
        entity("Rem", attribute("x", "Integer 32"), toOne("a", "Whole")),
        entity("Whole", attribute("x", "Integer 32"), note))

    /// A policy breaks a rule of the version between.
    static let breakingPolicy = Chain(
        testDescription: "a policy's row that breaks a rule of the version between",
        versions: [
            lone(), lone(attribute("note", extra: "maxValueString=\"9\"")), lone(note),
        ], together: [true], rows: lines
    ) { first(NotingLine.self) }

    private static func places(_ part: String = "") -> String {
        model(
            entity("Part", attribute("text"), toOne("whole", "Whole", inverse: "parts"), part),
            entity("Whole", attribute("name"), toMany("parts", "Part", inverse: "whole", ordered: true)))
    }

    private static let placed: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZWHOLE (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 2, 1, 'whole ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZWHOLE, Z_FOK_WHOLE)
        SELECT i, 1, 1, 'part ' || i, i % 40 + 1, i * 1024 FROM n;
        """
    }

    private static func animals(_ own: String = "") -> String {
        model(
            entity("Animal", attribute("name"), own),
            entity("Cat", parent: "Animal", attribute("lives", "Integer 16")),
            entity("Dog", parent: "Animal", attribute("tricks", "Integer 16")))
    }

    private static let apart = model(
        entity("Canine", attribute("name"), attribute("tricks", "Integer 16"), note),
        entity("Feline", attribute("name"), attribute("lives", "Integer 16"), note))

    private static let kinds: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZTRICKS)
        SELECT i, i % 2 + 2, 1, 'animal ' || i, iif(i % 2, NULL, i % 9), iif(i % 2, i % 5, NULL) FROM n;
        """
    }
}
