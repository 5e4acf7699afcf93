import CausewayMapping
import CausewayModel

/// A model with hierarchies and links that changes at random, always so that the next version can be inferred.
struct RandomModel {
    struct Member: Equatable {
        let id: Int
        var name: String
        var was: String?
        var parent: Int?
        var attributes: [Property]
    }

    struct Property: Equatable {
        var name: String
        var was: String?
        var kind: Int
        var isMandatory: Bool
        var hasDefault: Bool
    }

    struct Link: Equatable {
        var owner: Int
        var destination: Int
        var name: String
        var was: String?
        var isToMany: Bool
        var isOrdered: Bool
        /// nil: the link has no inverse.
        var inverse: String?
        var inverseIsToMany: Bool
    }

    /// Each with a default value.
    static let kinds = [
        ("String", "text"), ("Integer 16", "7"), ("Double", "2.5"), ("String", "more"), ("Integer 64", "123456"),
        ("Boolean", "YES"),
    ]
    /// Types of numbers, each of which holds all numbers of the one before.
    static let growing = [5, 1, 4, 2]

    var members: [Member] = []
    var links: [Link] = []
    private var serial = 0

    init(_ random: inout Seeded) {
        for name in ["Animal", "Thing"] { members.append(member(name, parent: nil)) }
        for _ in 0..<10 { change(&random) }
    }

    /// The versions of a history, the first one included.
    static func history(_ count: Int, _ random: inout Seeded) throws -> [String] {
        var shape = RandomModel(&random)
        while shape.model == nil { shape = RandomModel(&random) }
        var result = [shape.text]
        while result.count < count {
            var next = shape
            for _ in 0..<Int.random(in: 1...3, using: &random) { next.change(&random) }
            guard let before = shape.model, let after = next.model,
                (try? MappingInference.infer(from: before, to: after)) != nil
            else { continue }
            shape = next
            result.append(shape.text)
        }
        return result
    }

    private var model: ManagedObjectModel? { try? ModelReader.model(source: Array(text.utf8)) }

    var text: String {
        CausewayEngineTests.model(
            members.map { member in
                entity(
                    member.name, parent: member.parent.map(name), was: member.was,
                    member.attributes.map { property in
                        attribute(
                            property.name, Self.kinds[property.kind].0, optional: !property.isMandatory,
                            default: property.hasDefault ? Self.kinds[property.kind].1 : nil, was: property.was)
                    }.joined(), ends(of: member.id))
            }.joined())
    }

    private func ends(of id: Int) -> String {
        var result = ""
        for link in links {
            if link.owner == id {
                let target = name(link.destination)
                result +=
                    link.isToMany
                    ? toMany(link.name, target, inverse: link.inverse, ordered: link.isOrdered, was: link.was)
                    : toOne(link.name, target, inverse: link.inverse, was: link.was)
            }
            if let inverse = link.inverse, link.destination == id {
                result +=
                    link.inverseIsToMany
                    ? toMany(inverse, name(link.owner), inverse: link.name)
                    : toOne(inverse, name(link.owner), inverse: link.name)
            }
        }
        return result
    }

    private func name(_ id: Int) -> String { members.first { $0.id == id }?.name ?? "" }

    // MARK: - Changes

    private mutating func member(_ name: String, parent: Int?) -> Member {
        serial += 1
        return Member(id: serial, name: name, was: nil, parent: parent, attributes: [])
    }

    private func family(_ index: Int) -> [Int] {
        var above: [Int] = []
        var next = members[index].parent
        while let id = next, let place = members.firstIndex(where: { $0.id == id }) {
            above.append(place)
            next = members[place].parent
        }
        return above + [index] + below(index)
    }

    private func below(_ index: Int) -> [Int] {
        let children = members.indices.filter { members[$0].parent == members[index].id }
        return children + children.flatMap(below)
    }

    private func isFree(_ name: String, _ index: Int) -> Bool {
        !family(index).contains { members[$0].attributes.contains { $0.name == name } }
    }

    mutating func change(_ random: inout Seeded) {
        guard let index = members.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1, 2: addAttribute(index, &random)
        case 3: if let place = propertyPlace(of: index, &random) { members[index].attributes.remove(at: place) }
        case 4, 5: moveUp(index, &random)
        case 6, 7: moveDown(index, &random)
        case 8: renameAttribute(index, &random)
        case 9, 10:
            serial += 1
            var leaf = member("E\(serial)", parent: Bool.random(using: &random) ? members[index].id : members[0].id)
            leaf.attributes = []
            members.append(leaf)
            addAttribute(members.count - 1, &random)
        case 11: removeLeaf(index)
        case 12:
            serial += 1
            members[index].was = members[index].was ?? members[index].name
            members[index].name = "R\(serial)"
        case 13:
            guard let place = propertyPlace(of: index, &random) else { return }
            members[index].attributes[place].hasDefault = Bool.random(using: &random)
            members[index].attributes[place].isMandatory =
                members[index].attributes[place].hasDefault && Bool.random(using: &random)
        case 14, 15: addLink(index, &random)
        case 16: moveLink(&random)
        case 17, 18: grow(index, &random)
        default: changeLink(&random)
        }
    }

    private func propertyPlace(of index: Int, _ random: inout Seeded) -> Int? {
        members[index].attributes.indices.randomElement(using: &random)
    }

    private mutating func addAttribute(_ index: Int, _ random: inout Seeded) {
        let kind = Int.random(in: 0..<Self.kinds.count, using: &random)
        guard isFree("p\(kind)", index) else { return }
        let hasDefault = Bool.random(using: &random)
        members[index].attributes.append(
            Property(
                name: "p\(kind)", was: nil, kind: kind, isMandatory: hasDefault && Bool.random(using: &random),
                hasDefault: hasDefault))
    }

    private mutating func moveUp(_ index: Int, _ random: inout Seeded) {
        guard let place = propertyPlace(of: index, &random),
            let parent = members.firstIndex(where: { $0.id == members[index].parent })
        else { return }
        let property = members[index].attributes[place]
        for child in below(parent) { members[child].attributes.removeAll { $0.name == property.name } }
        members[parent].attributes.append(property)
    }

    private mutating func moveDown(_ index: Int, _ random: inout Seeded) {
        let children = members.indices.filter { members[$0].parent == members[index].id }
        guard !children.isEmpty, let place = propertyPlace(of: index, &random) else { return }
        let property = members[index].attributes.remove(at: place)
        for child in children where Bool.random(using: &random) { members[child].attributes.append(property) }
    }

    private mutating func renameAttribute(_ index: Int, _ random: inout Seeded) {
        guard let place = propertyPlace(of: index, &random) else { return }
        serial += 1
        let old = members[index].attributes[place]
        members[index].attributes[place].was = old.was ?? old.name
        members[index].attributes[place].name = "r\(serial)"
    }

    /// A number gets a larger type.
    private mutating func grow(_ index: Int, _ random: inout Seeded) {
        guard let place = propertyPlace(of: index, &random),
            let size = Self.growing.firstIndex(of: members[index].attributes[place].kind),
            let kind = Self.growing[(size + 1)...].randomElement(using: &random)
        else { return }
        members[index].attributes[place].kind = kind
    }

    private mutating func removeLeaf(_ index: Int) {
        guard members.count > 3, below(index).isEmpty else { return }
        let id = members.remove(at: index).id
        links.removeAll { $0.owner == id || $0.destination == id }
    }

    private mutating func addLink(_ index: Int, _ random: inout Seeded) {
        guard links.count < 5, let other = members.randomElement(using: &random) else { return }
        serial += 1
        let isToMany = Bool.random(using: &random)
        let hasInverse = Bool.random(using: &random)
        links.append(
            Link(
                owner: members[index].id, destination: other.id, name: "l\(serial)", was: nil, isToMany: isToMany,
                isOrdered: isToMany && Bool.random(using: &random), inverse: hasInverse ? "i\(serial)" : nil,
                inverseIsToMany: !isToMany || Bool.random(using: &random)))
    }

    /// Moves to the parent or to a child of the owner.
    private mutating func moveLink(_ random: inout Seeded) {
        guard let place = links.indices.randomElement(using: &random),
            let owner = members.firstIndex(where: { $0.id == links[place].owner })
        else { return }
        let children = members.filter { $0.parent == members[owner].id }.map(\.id)
        guard let next = (children + [members[owner].parent].compactMap(\.self)).randomElement(using: &random) else {
            return
        }
        links[place].owner = next
    }

    private mutating func changeLink(_ random: inout Seeded) {
        guard let place = links.indices.randomElement(using: &random) else { return }
        serial += 1
        switch Int.random(in: 0..<4, using: &random) {
        case 0: links.remove(at: place)
        case 1:
            links[place].was = links[place].was ?? links[place].name
            links[place].name = "n\(serial)"
        case 2: if links[place].isToMany { links[place].isOrdered.toggle() }
        default: if links[place].inverse != nil { links[place].inverse = "i\(serial)" }
        }
    }
}

/// SplitMix64: the same histories in every run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
