import CausewayEngine
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores
import Testing

@Suite("Validation: relationships and uniqueness", .timeLimit(.minutes(60)))
struct ValidationLinkTests {
    @Test("a mandatory to-one must have a target, and every key must lead to a row of its entity")
    func toOnes() throws {
        let store = try ValidationStore(
            model(
                entity("Owner"), entity("Rich", parent: "Owner"),
                entity("Pet", link("owner", "Owner", optional: false, max: 1), link("patron", "Rich", max: 1))),
            rows: """
                INSERT INTO ZOWNER (Z_PK, Z_ENT) VALUES (1, 1), (2, 2);
                INSERT INTO ZPET (Z_PK, Z_ENT, ZOWNER, ZPATRON) VALUES \
                (1, 3, 1, NULL), (2, 3, NULL, 2), (3, 3, 9, NULL), (4, 3, 2, 1)
                """)
        #expect(
            try store.stopped() == ["Pet.owner p2 1570", "Pet.owner p3 133000", "Pet.patron p4 133000"])
    }

    static let counted = model(
        entity("Box", link("needed", "Item", inverse: "box", optional: false, min: 1, max: 2)),
        entity("Bag", link("some", "Item", inverse: "bag", min: 2)),
        entity("Item", link("box", "Box", inverse: "needed", max: 1), link("bag", "Bag", inverse: "some", max: 1)))

    @Test("minimum and maximum count; an optional to-many may be empty")
    func counts() throws {
        let store = try ValidationStore(
            Self.counted,
            rows: """
                INSERT INTO ZBOX (Z_PK, Z_ENT) VALUES (1, 2), (2, 2), (3, 2);
                INSERT INTO ZBAG (Z_PK, Z_ENT) VALUES (1, 1), (2, 1), (3, 1);
                INSERT INTO ZITEM (Z_PK, Z_ENT, ZBOX, ZBAG) VALUES \
                (1, 3, 1, 1), (2, 3, 3, 2), (3, 3, 3, 2), (4, 3, 3, NULL)
                """)
        #expect(try store.stopped() == ["Bag.some p1 1580", "Box.needed p2 1580", "Box.needed p3 1590"])
    }

    @Test("a mandatory to-many without a minimum may be empty, as Apple's stores have it")
    func mandatoryWithoutMinimum() throws {
        let store = try ValidationStore(
            model(
                entity("A", link("bs", "B", inverse: "a", optional: false)),
                entity("B", link("a", "A", inverse: "bs", max: 1))
            ), rows: "INSERT INTO ZA (Z_PK, Z_ENT) VALUES (1, 1)")
        #expect(try store.validate(.stop).violations == 0)
    }

    @Test("counts of both sides of a many-to-many, and dangling links")
    func joins() throws {
        let store = try ValidationStore(
            model(
                entity("A", link("bs", "B", inverse: "as", optional: false, min: 1)),
                entity("B", link("as", "A", inverse: "bs", max: 2))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT) VALUES (1, 1), (2, 1), (3, 1), (4, 1);
                INSERT INTO ZB (Z_PK, Z_ENT) VALUES (1, 2), (2, 2);
                INSERT INTO Z_1BS VALUES (1, 1), (2, 1), (3, 1), (1, 9), (8, 2), (6, 7);
                """)
        #expect(
            try store.stopped() == [
                "A.bs p1 133000", "A.bs p6 133000", "B.as p2 133000", "A.bs p4 1580", "B.as p1 1590",
            ])
        let outcome = try store.validate(.reject)
        #expect(outcome.strayLinks == 1)
        #expect(
            try store.rejected() == [
                "A.bs p1 133000", "A.bs p2 1580", "A.bs p3 1580", "A.bs p4 1580", "B.as p1 1590", "B.as p2 133000",
            ])
        #expect(try store.rows("SELECT * FROM Z_1BS").isEmpty)
    }

    @Test("a relationship that is its own inverse counts a link once for each end, in both directions")
    func reflexive() throws {
        let store = try ValidationStore(
            model(entity("A", link("friends", "A", inverse: "friends", optional: false, min: 1, max: 1 + 1))),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1);
                INSERT INTO Z_1FRIENDS VALUES (1, 2), (2, 1), (3, 1), (4, 1);
                """)
        #expect(try store.stopped() == ["A.friends p1 1590", "A.friends p5 1580"])
    }

    @Test("a to-many without inverse is counted in its destination, and its keys must have rows")
    func withoutInverse() throws {
        let store = try ValidationStore(
            model(entity("A", link("bs", "B", max: 2)), entity("B")),
            rows: """
                INSERT INTO ZA (Z_PK, Z_ENT) VALUES (1, 1);
                INSERT INTO ZB (Z_PK, Z_ENT, Z1BS) VALUES (1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 5);
                """)
        #expect(try store.stopped() == ["B.A.bs p4 133000", "A.bs p1 1590"])
    }

    static let unique = model(
        """
        <entity name="A">\(attribute("x"))\(attribute("y", "Integer 16"))<uniquenessConstraints><uniquenessConstraint>\
        <constraint value="x"/><constraint value="y"/></uniquenessConstraint></uniquenessConstraints></entity>
        """, entity("B", parent: "A"))
    static let uniqueRows = """
        INSERT INTO ZA (Z_PK, Z_ENT, ZX, ZY) VALUES (1, 1, 'a', 1), (2, 1, 'a', 2), (3, 2, 'a', 1), (4, 1, 'a', NULL), \
        (5, 1, 'a', NULL), (6, 1, 'a', 1), (7, 1, 'A', 1)
        """

    @Test(
        "uniqueness: subentities count, NULL is never a duplicate, duplicates are named",
        arguments: [OnViolation.stop, .useDefault])
    func uniqueness(policy: OnViolation) throws {
        let store = try ValidationStore(Self.unique, rows: Self.uniqueRows)
        let error = try failure { try store.validate(policy) }
        #expect(
            error.details == [
                "B.x, y: x-coredata://\(ValidationStore.uuid)/B/p3: isn't unique: clashes with p1 (134111)",
                "A.x, y: x-coredata://\(ValidationStore.uuid)/A/p6: isn't unique: clashes with p1 (134111)",
            ])
    }

    @Test("rejecting keeps the first of equal rows, and the unique index can be made")
    func uniquenessRejected() throws {
        let store = try ValidationStore(Self.unique, rows: Self.uniqueRows)
        let outcome = try store.validate(.reject)
        #expect(outcome.rejectedRows == ["A": 1, "B": 1])
        #expect(try store.rows("SELECT Z_PK FROM ZA") == ["1", "2", "4", "5", "7"])
        for statement in try store.layout.statements().indexStatements where statement.index?.isUnique == true {
            try store.connection.execute(statement.sql)
        }
    }
}
