import CausewayGeneration
import CausewayModel
import CausewayStoreFormat
import Testing

@Suite("Links of generated stores", .timeLimit(.minutes(60)))
struct LinkTests {
    @Test("every cardinality is consistent from both sides", arguments: ModelCase.fixtures + ModelCase.madeUp)
    func consistent(_ model: ModelCase) throws {
        for rows in [3, 17, 100, 1_500] {
            let store = try GeneratedStore(model.model, GenerationOptions(rows: rows, seed: 5))
            defer { store.remove() }
            #expect(try LinkChecks(store: store).failures() == [], "\(rows) rows")
        }
    }

    @Test("a large enough store has links of every kind")
    func present() throws {
        let store = try GeneratedStore(try ModelCase.fixture("Orchard/v3"), GenerationOptions(rows: 1_000, seed: 5))
        defer { store.remove() }
        for join in store.layout.joinTables { #expect(try store.number("SELECT COUNT(*) FROM \(join.name)") > 50) }
        for column in ["ZROW", "Z_FOK_ROW", "ZLABEL"] {
            #expect(try store.number("SELECT COUNT(\(column)) FROM ZPLANT") > 20, "\(column)")
        }
        // Owners have very different numbers of links.
        let largest = try store.number("SELECT COUNT(*) FROM ZPLANT WHERE ZROW NOT NULL GROUP BY ZROW ORDER BY 1 DESC")
        #expect(try largest > 2 * store.number("SELECT AVG(n) FROM (SELECT COUNT(*) n FROM ZPLANT GROUP BY ZROW)"))
    }

    @Test("mandatory to-ones and attributes are filled", arguments: ModelCase.fixtures)
    func mandatory(_ model: ModelCase) throws {
        let store = try GeneratedStore(model.model, GenerationOptions(rows: 700, seed: 5))
        defer { store.remove() }
        for entity in store.layout.entities {
            let declared = try #require(model.model.entities[entity])
            let names =
                declared.attributes.filter { !$0.isOptional && !$0.isTransient }.map(\.name)
                + declared.relationships.filter { !$0.isOptional && !$0.isToMany }.map(\.name)
            for name in names {
                let table = try #require(store.layout.table(of: entity))
                let column = try #require(store.layout.column(of: name, in: entity))
                let range = try #require(store.layout.numbers(ofTree: entity))
                let count = try store.number(
                    "SELECT COUNT(*) FROM \(table.name) WHERE \(column.name) IS NULL AND Z_ENT BETWEEN "
                        + "\(range.lowerBound) AND \(range.upperBound)")
                #expect(count == 0, "\(entity).\(name)")
            }
        }
    }

    @Test("minimum and maximum counts of to-manys are kept")
    func counts() throws {
        let store = try GeneratedStore(ModelCase.bounded, GenerationOptions(rows: 600, seed: 5))
        defer { store.remove() }
        let children = "SELECT COUNT(c.Z_PK) n FROM ZOWNER o LEFT JOIN ZCHILD c ON c.ZOWNER = o.Z_PK GROUP BY o.Z_PK"
        #expect(try store.number("SELECT MIN(n) FROM (\(children))") >= 1)
        #expect(try store.number("SELECT MAX(n) FROM (\(children))") <= 6)
        let join = try #require(store.layout.joinTables.first)
        for column in [join.ownerColumn, join.destinationColumn] {
            let most = try store.number("SELECT COUNT(*) FROM \(join.name) GROUP BY \(column) ORDER BY 1 DESC")
            #expect(most <= 3)
        }
    }
}

extension ModelCase {
    /// One-to-ones inside an entity, trees, relationships with themselves, both ends ordered.
    static let madeUp: [ModelCase] = [
        ModelCase(name: "links inside one entity", model: reflexive), ModelCase(name: "bounded", model: bounded),
    ]

    private static var reflexive: ManagedObjectModel {
        var node = Entity(name: "Node")
        node.relationships = [
            link("next", "Node", "previous", most: 1), link("previous", "Node", "next", most: 1),
            link("spouse", "Node", "spouse", most: 1), link("parent", "Node", "children", most: 1),
            link("children", "Node", "parent", isOrdered: true), link("friends", "Node", "friends"),
            link("likes", "Node", "likedBy", isOrdered: true), link("likedBy", "Node", "likes", isOrdered: true),
            link("best", "Node", nil, most: 1), link("pinned", "Leaf", nil, isOrdered: true),
        ]
        var leaf = Entity(name: "Leaf")
        leaf.parent = "Node"
        return ManagedObjectModel(entities: [node, leaf])
    }

    static var bounded: ManagedObjectModel {
        var owner = Entity(name: "Owner")
        owner.relationships = [
            link("children", "Child", "owner", least: 1, most: 6), link("tags", "Tag", "owners", most: 3),
        ]
        var child = Entity(name: "Child")
        child.relationships = [link("owner", "Owner", "children", most: 1)]
        var tag = Entity(name: "Tag")
        tag.relationships = [link("owners", "Owner", "tags", most: 3)]
        return ManagedObjectModel(entities: [owner, child, tag])
    }

    private static func link(
        _ name: String, _ destination: String, _ inverse: String?, least: Int = 0, most: Int = 0,
        isOrdered: Bool = false
    ) -> Relationship {
        var relationship = Relationship(name: name, destination: destination)
        relationship.inverse = inverse
        relationship.isOptional = true
        relationship.minCount = least
        relationship.maxCount = most
        relationship.isOrdered = isOrdered
        return relationship
    }
}
