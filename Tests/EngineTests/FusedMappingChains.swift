import CausewayObjects
import Testing

/// The histories whose steps run together, or not, with their mapping models.
extension FusedMappingTests {
    static func version(_ line: String = "", _ maker: String = "", code: String = attribute("code")) -> String {
        model(
            entity(
                "Line", code, attribute("quantity", "Integer 32"), attribute("price", "Double"),
                attribute("day", "Date"), toOne("maker", "Maker", inverse: "lines"), line),
            entity(
                "Maker", attribute("name"), attribute("rank", "Integer 16"), toMany("lines", "Line", inverse: "maker"),
                maker))
    }

    static func rows(_ count: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 20))
        INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK)
        SELECT i * 3, 2, 1 + i % 4, iif(i % 7, 'maker ' || i, NULL), iif(i % 5, i % 100, NULL) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZQUANTITY, ZPRICE, ZDAY, ZMAKER)
        SELECT i * 2, 1, 1, printf('%08d-%040x', i, i * 7919), iif(i % 11, i % 100, NULL), i % 9 / 2.0, i * 1000.5,
            iif(i % 13, (i * 31 % \(count / 20) + 1) * iif(i % 17, 3, 2), NULL)
        FROM n;
        """
    }

    /// A history with its mapping models.
    struct Chain: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let versions: [String]
        /// For every step but the first: whether it runs together with the one before it.
        let together: [Bool]
        var rows: @Sendable (Int) -> String = FusedMappingTests.rows
        /// Whether rows turn out to need the stores between.
        var fallsBack = false
        /// Whether steps of it are composed, which is another plan than `--no-fuse` has.
        var composes = false
        let mappings: @Sendable () -> [SwiftMappingModel]
    }

    static let chains = [
        Chain(
            testDescription: "numbers, texts and defaults",
            versions: [
                version(), version(attribute("half", "Integer 16") + attribute("note", default: "n/a")),
                version(attribute("half", "Double") + attribute("note") + attribute("size")),
                version(attribute("half", "Double") + attribute("upper"), attribute("title")),
            ], together: [true, true]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") {
                        Compute("half", "$source.quantity / 2")
                        Compute("price", "$source.price * 1.1")
                    }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line") {
                        Compute("half", "$source.half / 4.0")
                        Compute("size", "TERNARY($source.half > 20, 'large', $source.note)")
                        Compute("quantity", "$source.quantity + 1")
                    }
                    TransformEntity("Maker") { Compute("rank", "$source.rank + 1") }
                },
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line") { Compute("upper", "uppercase:($source.size)") }
                    TransformEntity("Maker") { Compute("title", "$source.name") }
                },
            ]
        },
        Chain(
            testDescription: "key paths in the first step, filters in all of them, links that end",
            versions: [
                version(toOne("peer", "Maker")), version(attribute("makerName")), version(attribute("makerName")),
                version(attribute("makerName") + attribute("more")),
            ], together: [true, true], rows: { rows($0) + "UPDATE ZLINE SET ZPEER = (Z_PK % 20 + 1) * 3;" }
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") {
                        Filter("maker == nil OR quantity != 3")
                        Compute("makerName", "$source.peer.name")
                    }
                    TransformEntity("Maker") { Filter("rank != 7") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line") { Filter("quantity < 90 OR quantity == nil") }
                    TransformEntity("Maker") { Filter("NOT (name CONTAINS '11')") }
                },
                SwiftMappingModel(from: "V3", to: "V4") {
                    TransformEntity("Line") { Filter("makerName != 'maker 5'") }
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "entities that are renamed and added",
            versions: [version(), renamed("Maker"), renamed("Firm", attribute("sum", "Integer 64"))], together: [true]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line", to: "Item") {
                        Compute("count", "$source.quantity * 10")
                        Link("by", from: "maker", through: "MakerToMaker")
                    }
                    TransformEntity("Maker")
                    AddEntity("Extra")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Item") {
                        Compute("sum", "$source.count + 1")
                        Link("by", from: "by", through: "MakerToFirm")
                    }
                    TransformEntity("Maker", to: "Firm")
                    TransformEntity("Extra")
                },
            ]
        },
        Chain(
            testDescription: "rows that nobody reads",
            versions: [version(), renamed("Maker"), model(entity("Item", attribute("code")))], together: [false]
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line", to: "Item") { Link("by", from: "maker", through: "MakerToMaker") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Item")
                    RemoveEntity("Maker")
                    RemoveEntity("Extra")
                },
            ]
        },
        Chain(
            testDescription: "subentities in one table, and an entity that two mappings read",
            versions: [family(), family(attribute("years", "Integer 32")), split],
            together: [false], rows: familyRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Adult") { Compute("years", "$source.age + 1") }
                    TransformEntity("Child") { Filter("age < 15") }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Adult", to: "Name", fillsUnmentioned: false) { Copy("name") }
                    TransformEntity("Adult", to: "Years", fillsUnmentioned: false) {
                        Compute("years", "$source.years * 2")
                    }
                },
            ]
        },
        Chain(
            testDescription: "a link that must lead somewhere, and does",
            versions: [strict(), strict(attribute("more")), version(attribute("more"))], together: [true],
            rows: strictRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a link that must lead to rows which the next version hasn't",
            versions: [strict(), strict(attribute("more")), model(entity("Line", attribute("code")))],
            together: [false], rows: strictRows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    RemoveEntity("Maker")
                },
            ]
        },
        Chain(
            testDescription: "a default that repairs what breaks a rule of a version between",
            versions: [
                version(), version(attribute("level", "Integer 16", optional: false, default: "3")),
                version(attribute("level", "Integer 16")),
            ], together: [true], fallsBack: true
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Line") { Compute("level", "$source.quantity") }
                    TransformEntity("Maker")
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Line")
                    TransformEntity("Maker")
                },
            ]
        },
        needing, inferred, between,
    ]

    /// A mapping model between inferred steps: an entity is renamed, a column goes, values are added.
    static let between = Chain(
        testDescription: "a mapping model between inferred steps",
        versions: [
            version(), version(attribute("colour", default: "red")),
            version(attribute("colour") + attribute("total", "Double")),
            model(
                entity("Alpha", attribute("word")),
                entity(
                    "Item", was: "Line", attribute("code"), attribute("sum", "Double", was: "total"),
                    attribute("mark", default: "new"), toOne("maker", "Maker", inverse: "lines")),
                entity("Maker", attribute("name"), toMany("lines", "Item", inverse: "maker"))),
        ], together: [true, true]
    ) {
        [
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line") {
                    Filter("quantity != 17")
                    Compute("total", "$source.quantity * $source.price")
                }
                TransformEntity("Maker") { Filter("rank != 7") }
            }
        ]
    }

    /// Two inferred steps before two mapping models: an entity goes, a type changes, values are added.
    static let inferred = Chain(
        testDescription: "inferred steps before mapping models",
        versions: [
            model(
                entity(
                    "Line", attribute("code"), attribute("quantity", "Integer 32"), attribute("price", "Double"),
                    attribute("day", "Date"), toOne("maker", "Maker", inverse: "lines"), attribute("waste")),
                entity(
                    "Maker", attribute("name"), attribute("rank", "Integer 16"),
                    toMany("lines", "Line", inverse: "maker")),
                entity("Waste", attribute("word"))),
            version(attribute("colour", default: "red")),
            model(
                entity(
                    "Item", was: "Line", attribute("code"), attribute("quantity", "Double"),
                    attribute("price", "Double"),
                    attribute("day", "Date"), toOne("maker", "Maker", inverse: "lines"),
                    attribute("colour", default: "red")),
                entity(
                    "Maker", attribute("name"), attribute("rank", "Integer 16"),
                    toMany("lines", "Item", inverse: "maker"))),
            model(
                entity(
                    "Item", attribute("code"), attribute("half", "Double"), attribute("colour"),
                    toOne("maker", "Maker", inverse: "items")),
                entity("Maker", attribute("name"), toMany("items", "Item", inverse: "maker"))),
            model(
                entity(
                    "Item", attribute("code"), attribute("quarter", "Double"), attribute("colour"),
                    toOne("maker", "Maker", inverse: "items")),
                entity("Maker", attribute("name"), toMany("items", "Item", inverse: "maker"))),
        ], together: [true, true], composes: true
    ) {
        [
            SwiftMappingModel(from: "V3", to: "V4") {
                TransformEntity("Item") {
                    Filter("quantity != 17")
                    Compute("half", "$source.quantity / 2")
                    Link("maker", from: "maker", through: "MakerToMaker")
                }
                TransformEntity("Maker") { Filter("rank != 7") }
            },
            SwiftMappingModel(from: "V4", to: "V5") {
                TransformEntity("Item") { Compute("quarter", "$source.half / 2") }
                TransformEntity("Maker")
            },
        ]
    }

    /// The second step asks for rows of other tables.
    static let needing = Chain(
        testDescription: "steps that need a store between them, and two that don't",
        versions: [
            version(), version(attribute("makerName")), version(attribute("makerName") + attribute("total", "Double")),
            version(attribute("total", "Double")),
        ], together: [false, true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Filter("quantity > 3") }
                TransformEntity("Maker") { Filter("rank != nil") }
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line") { Compute("makerName", "$source.maker.name") }
                TransformEntity("Maker")
            },
            SwiftMappingModel(from: "V3", to: "V4") {
                TransformEntity("Line") { Compute("total", "$source.quantity * $source.price") }
                TransformEntity("Maker")
            },
        ]
    }

    private static func renamed(_ maker: String, _ own: String = "") -> String {
        model(
            entity("Extra", attribute("word")),
            entity(
                "Item", attribute("code"), attribute("count", "Integer 64"), toOne("by", maker, inverse: "items"), own),
            entity(maker, attribute("name"), toMany("items", "Item", inverse: "by")))
    }

    static func family(_ own: String = "") -> String {
        model(
            entity("Person", extra: "isAbstract=\"YES\"", attribute("name"), attribute("age", "Integer 16")),
            entity("Adult", parent: "Person", own), entity("Child", parent: "Person", attribute("toy")))
    }
    static let split = model(
        entity("Name", attribute("name")), entity("Years", attribute("years", "Integer 32")))

    /// Adult 2, Child 3.
    static let familyRows: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME, ZAGE, ZTOY)
        SELECT i * 5, 1 + i % 2, 1, 'person ' || i, i % 80, NULL FROM n;
        """
    }

    static func strict(_ own: String = "") -> String {
        model(
            entity("Line", attribute("code"), own, toOne("maker", "Maker", inverse: "lines")),
            entity("Maker", attribute("name"), toMany("lines", "Line", inverse: "maker"))
        ).replacing("name=\"maker\" optional=\"YES\"", with: "name=\"maker\" optional=\"NO\"")
    }
    static let strictRows: @Sendable (Int) -> String = { count in
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count / 20))
        INSERT INTO ZMAKER (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 2, 1, 'maker ' || i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO ZLINE (Z_PK, Z_ENT, Z_OPT, ZCODE, ZMAKER) SELECT i, 1, 1, 'line ' || i, i % \(count / 20) + 1 FROM n;
        """
    }
}
