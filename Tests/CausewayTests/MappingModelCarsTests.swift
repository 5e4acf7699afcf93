import Causeway
import CausewayEngine
import Foundation
import Testing

/// CoreDataPlus V2 → V3: from the compiled mapping model and from the one that Xcode edits.
@Suite(.timeLimit(.minutes(60)), .enabled(if: SharedStores.isThere, "shared/stores is missing"))
struct MappingModelCarsTests {
    static let compiled = example("coredataplus/V2toV3.cdm", "coredataplus/SampleModel.momd")
    static let edited = example("coredataplus/V2toV3.xcmappingmodel", "coredataplus/SampleModel.xcdatamodeld")

    private static func example(_ mapping: String, _ models: String) -> PoliciesExample {
        var code = MigrationCode()
        code.register(V2to3MakerPolicy.self)
        return PoliciesExample(
            name: mapping, store: "coredataplus/SampleModel_V2.sqlite", models: models, target: "SampleModel3",
            mappings: [mapping], code: code)
    }

    @Test("10 makers are found or made, 125 cars keep keys, entities and owners", arguments: [compiled, edited])
    func cars(_ example: PoliciesExample) throws {
        let folder = try TemporaryFolder()
        let result = try example.migrate(in: folder)
        try example.expectSchema(result)
        #expect(try StoreRows.texts(result, "SELECT count(*) FROM ZMAKER") == ["10"])
        #expect(
            try StoreRows.texts(
                result,
                """
                SELECT p.Z_NAME || ' ' || count(*) FROM ZCAR AS c JOIN Z_PRIMARYKEY AS p ON p.Z_ENT = c.Z_ENT
                GROUP BY p.Z_NAME ORDER BY 1
                """) == ["Car 115", "LuxuryCar 5", "SportCar 5"])
        let source = try folder.copyStore(StoreRows.shared(example.store), as: "copy")
        let attributes =
            "c.Z_PK || ' ' || c.Z_ENT || quote(c.ZOWNER) || quote(c.ZISLIMITEDEDITION) || quote(c.ZMARKEDFORDELETIONASOF)"
            + " || quote(c.ZMODEL) || c.ZNUMBERPLATE"
        // V2's Z_PRIMARYKEY still has ExpensiveSportCar for LuxuryCar; the new entity Maker shifts the numbers.
        let kind = "CASE p.Z_NAME WHEN 'ExpensiveSportCar' THEN 'LuxuryCar' ELSE p.Z_NAME END"
        let values = attributes.replacing("c.Z_ENT", with: kind)
        #expect(
            try StoreRows.texts(
                result,
                """
                SELECT \(values) || m.ZNAME FROM ZCAR AS c JOIN ZMAKER AS m ON m.Z_PK = c.ZCREATEDBY
                JOIN Z_PRIMARYKEY AS p ON p.Z_ENT = c.Z_ENT ORDER BY 1
                """)
                == StoreRows.texts(
                    source,
                    "SELECT \(values) || c.ZMAKER FROM ZCAR AS c JOIN Z_PRIMARYKEY AS p ON p.Z_ENT = c.Z_ENT ORDER BY 1"
                ))
        let people = "SELECT Z_PK || quote(ZUPDATEDAT) || ZFIRSTNAME || ZLASTNAME FROM ZPERSON ORDER BY 1"
        #expect(try StoreRows.texts(result, people) == StoreRows.texts(source, people))
    }

    /// `previousOwners` is mapped from the same `$source.owner`.
    @Test("every owner is a previous owner too", arguments: [compiled, edited])
    func previousOwners(_ example: PoliciesExample) throws {
        let folder = try TemporaryFolder()
        let result = try example.migrate(in: folder)
        let table = try #require(
            StoreRows.texts(
                result,
                """
                SELECT name FROM sqlite_master WHERE type = 'table'
                AND (name GLOB 'Z_*PREVIOUSOWNERS' OR name GLOB 'Z_*PREVIOUSCARS')
                """
            ).first)
        let columns = try StoreRows.texts(result, "SELECT name FROM pragma_table_info('\(table)')")
        let cars = try #require(columns.first { $0.contains("PREVIOUSCARS") })
        let owners = try #require(columns.first { $0.contains("PREVIOUSOWNERS") })
        let pairs = try StoreRows.texts(result, "SELECT \(cars) || ' ' || \(owners) FROM \(table) ORDER BY 1")
        #expect(pairs.count == 118)
        #expect(
            try pairs
                == StoreRows.texts(
                    result, "SELECT Z_PK || ' ' || ZOWNER FROM ZCAR WHERE ZOWNER IS NOT NULL ORDER BY 1"))
    }

    @Test("both mapping models give the same store to the byte")
    func sameStore() throws {
        let folder = try TemporaryFolder()
        let first = try Self.compiled.migrate(in: folder, as: "compiled")
        let second = try Self.edited.migrate(in: folder, as: "edited")
        try Self.compiled.expectSameRows(first, second)
        #expect(try Data(contentsOf: URL(filePath: first)) == Data(contentsOf: URL(filePath: second)))
    }

    @Test("the rows don't depend on batch size or workers")
    func work() throws {
        #expect(try Self.compiled.differences(PoliciesExample.Work.every) == [])
    }
}
