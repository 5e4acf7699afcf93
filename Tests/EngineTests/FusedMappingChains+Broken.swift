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
}
