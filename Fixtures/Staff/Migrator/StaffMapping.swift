import Causeway

/// v1 → v2 in Swift: says the same as `v1-v2.xcmappingmodel`.
///
/// `number`, `name` and `manager` aren't written about: they are carried over as what they are called.
let staffMapping = SwiftMappingModel(from: "v1", to: "v2") {
    TransformEntity("Person", to: "Contact", policy: ContactPolicy.self) {
        Compute("percentage", "$source.percentage/100")
        Compute("salary", "$source.salary*1.04")
        Compute("phone", #"FUNCTION($entityPolicy, "trimmedPhone:", $source.phone)"#)
        Link("reports", from: "staff", through: "PersonToContact")
    }
}
