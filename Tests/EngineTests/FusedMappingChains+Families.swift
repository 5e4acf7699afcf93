import CausewayObjects

/// Histories of entities that share a table, each with a mapping of its own.
extension FusedMappingTests {
    private static func pets(_ animal: String = "") -> String { MappedHierarchyTests.version(animal) }

    private static func each(_ names: [String] = ["Bird", "Cat", "Dog", "Puppy", "Owner", "Visit"]) -> [TransformEntity]
    {
        names.map { TransformEntity($0) }
    }

    static let families = [
        Chain(
            testDescription: "two steps of a hierarchy",
            versions: [
                pets(), pets(attribute("half", "Double") + attribute("ownerName") + attribute("label")),
                pets(attribute("half", "Double") + attribute("ownerName") + attribute("size")),
            ], together: [true], rows: MappedHierarchyTests.rows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Cat") {
                        Filter("lives != 3")
                        Compute("half", "$source.weight / 2")
                    }
                    TransformEntity("Dog") { Compute("ownerName", "$source.owner.name") }
                    for one in each(["Bird", "Puppy", "Owner", "Visit"]) { one }
                },
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Dog") { Filter("age != 4") }
                    TransformEntity("Cat") { Compute("size", "TERNARY($source.half > 1, 'large', 'small')") }
                    TransformEntity("Puppy") { Compute("name", "uppercase:($source.name)") }
                    for one in each(["Bird", "Owner", "Visit"]) { one }
                },
            ]
        },
        Chain(
            testDescription: "inferred steps around a hierarchy's mappings",
            versions: [
                pets(), pets(attribute("note", default: "n/a")),
                pets(attribute("note") + attribute("half", "Double")),
                pets(attribute("note") + attribute("half", "Double") + attribute("later")),
            ], together: [true, true], rows: MappedHierarchyTests.rows
        ) {
            [
                SwiftMappingModel(from: "V2", to: "V3") {
                    TransformEntity("Bird") { Filter("age != 4") }
                    TransformEntity("Dog") { Compute("half", "$source.weight / 2") }
                    for one in each(["Cat", "Puppy", "Owner", "Visit"]) { one }
                }
            ]
        },
        Chain(
            testDescription: "an inferred step after a hierarchy's mappings",
            versions: [
                pets(), pets(attribute("half", "Double")), pets(attribute("half", "Double") + attribute("later")),
            ], together: [true], rows: MappedHierarchyTests.rows
        ) {
            [
                SwiftMappingModel(from: "V1", to: "V2") {
                    TransformEntity("Bird") { Filter("age != 4") }
                    TransformEntity("Dog") { Compute("half", "$source.weight / 2") }
                    for one in each(["Cat", "Puppy", "Owner", "Visit"]) { one }
                }
            ]
        },
    ]
}
