import CausewayObjects

/// Histories in which rows break a rule.
extension FusedMappingTests {
    /// Makers are left out, and lines must have theirs.
    static let left = Chain(
        testDescription: "rows that others must lead to are left out",
        versions: [strict(), strict(attribute("more")), strict(attribute("less"))], together: [true], rows: strictRows
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line")
                TransformEntity("Maker") { Filter("name != 'maker 5'") }
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line")
                TransformEntity("Maker")
            },
        ]
    }

    /// What breaks a rule of a version between can't be calculated with.
    static let failing = Chain(
        testDescription: "a row that breaks a rule, with which the next step fails",
        versions: [
            version(), version(attribute("large", "Integer 32", extra: "maxValueString=\"90000\"")),
            version(attribute("large", "Integer 16")),
        ], together: [true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Compute("large", "$source.quantity * 1000") }
                TransformEntity("Maker")
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line") { Compute("large", "$source.large / 3") }
                TransformEntity("Maker")
            },
        ]
    }

    /// The last step demands what the one before doesn't give.
    static let demanding = Chain(
        testDescription: "a row that breaks a rule of the last version",
        versions: [
            version(), version(attribute("half", "Integer 16")),
            version(attribute("half", "Integer 16", optional: false)),
        ], together: [true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Compute("half", "$source.quantity / 2") }
                TransformEntity("Maker")
            },
            SwiftMappingModel(from: "V2", to: "V3") {
                TransformEntity("Line") { Compute("price", "$source.price + 1") }
                TransformEntity("Maker")
            },
        ]
    }

    /// An inferred step after mapping models makes an attribute mandatory.
    static let mandatory = Chain(
        testDescription: "an inferred step whose rule a row breaks",
        versions: [
            version(), version(attribute("more")), version(attribute("more"), code: attribute("code", optional: false)),
        ],
        together: [true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Compute("code", "TERNARY($source.quantity == 5, nil, $source.code)") }
                TransformEntity("Maker")
            }
        ]
    }

    /// Inferred steps after mapping models give numbers another type.
    static let converting = [
        Chain(
            testDescription: "an inferred step that converts numbers, all of which fit",
            versions: [
                version(),
                numbers("Integer 64", "Double", "Integer 32"), numbers("Double", "Integer 32", "Integer 16"),
            ], together: [true]
        ) { converted("$source.quantity * 2.0") },
        Chain(
            testDescription: "an inferred step that converts numbers, one of which is rounded",
            versions: [
                version(),
                numbers("Integer 64", "Double", "Integer 32"), numbers("Integer 64", "Float", "Integer 32"),
            ], together: [true], fallsBack: true
        ) { converted("TERNARY($source.quantity == 71, 0.1, 0.5)") },
    ]

    private static func numbers(_ large: String, _ half: String, _ few: String) -> String {
        version(attribute("large", large) + attribute("half", half) + attribute("few", few))
    }

    private static func converted(_ half: String) -> [SwiftMappingModel] {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") {
                    Compute("large", "$source.quantity * 100000")
                    Compute("half", half)
                    Compute("few", "TERNARY($source.quantity == 9, nil, $source.quantity)")
                }
                TransformEntity("Maker")
            }
        ]
    }

    /// An inferred step after mapping models gives numbers a type that doesn't hold all of them.
    static let narrowing = Chain(
        testDescription: "an inferred step whose type doesn't hold a number",
        versions: [
            version(), version(attribute("large", "Integer 64")), version(attribute("large", "Integer 16")),
        ], together: [true]
    ) {
        [
            SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Line") { Compute("large", "$source.quantity * 100000") }
                TransformEntity("Maker")
            }
        ]
    }
}
