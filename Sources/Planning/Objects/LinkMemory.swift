/// What `LinkPlanning` has found out: every mapping that takes part in a relationship asks for the same again.
final class LinkMemory {
    /// What a look-up through a mapping, or through any, can lead to.
    struct Search: Hashable {
        let mapping: String?
        /// The mapping model, where the name is one of its own.
        let model: Int?
        let declared: String
        let kind: String
    }

    /// A property mapping.
    struct Place: Hashable {
        let mapping: Int
        let property: String
    }

    /// Something that is known, even if it is nothing.
    struct Known<Value> {
        let value: Value
    }

    /// The mappings that must set a to-many in stage 2, by `Entity.relationship`.
    var acting: [String: [Int]] = [:]
    var candidates: [Search: Known<[Int32: [Int]]?>] = [:]
    var targets: [Search: Known<[Int32: Int]?>] = [:]
    /// Of entity mappings, by mapping model.
    var names: [Int: Set<String>] = [:]
    var links: [Place: Known<LinkPlanning.CarriedLink?>] = [:]
    /// By join table.
    var copied: [String: Known<Set<Int>?>] = [:]
    var translations: [String: Known<ObjectStep.JoinTranslation?>] = [:]
    /// Places of mappings by the entity that they make, and by those that they read.
    var makers: [String: [Int]] = [:]
    var readers: [String: [Int]]?
}
