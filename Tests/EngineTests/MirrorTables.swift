import CausewayEngine
import CausewayPreparation

/// The tables with which Core Data mirrors a store to CloudKit, and rows in them about the objects that the store has.
///
/// The names of the tables are those of public dumps; the columns of ANSCKRECORDMETADATA and ANSCKMETADATAENTRY with
/// their indexes, and the entities' numbers, those that apps have published; the other columns follow their names.
enum MirrorTables {
    /// Core Data's entities, from 17001 on, with the columns of their tables.
    static let entities: [(name: String, columns: String)] = [
        (
            "NSCKDatabaseMetadata",
            "ZDATABASESCOPENUM INTEGER, ZLASTFETCHDATE TIMESTAMP, ZDATABASENAME VARCHAR, ZTOKEN BLOB"
        ),
        ("NSCKEvent", "ZCLOUDKITEVENTTYPE INTEGER, ZSUCCEEDED INTEGER, ZENDEDAT TIMESTAMP, ZEVENTIDENTIFIER BLOB"),
        ("NSCKExportedObject", "ZCHANGETYPENUM INTEGER, ZOPERATION INTEGER, ZCKRECORDNAME VARCHAR, ZZONENAME VARCHAR"),
        ("NSCKExportMetadata", "ZEXPORTEDAT TIMESTAMP, ZIDENTIFIER VARCHAR, ZHISTORYTOKEN BLOB"),
        ("NSCKExportOperation", "ZSTATUSNUM INTEGER, ZEXPORTMETADATA INTEGER, ZIDENTIFIER VARCHAR"),
        (
            "NSCKHistoryAnalyzerState",
            "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZFINALCHANGETYPENUM INTEGER, ZFINALCHANGEAUTHOR VARCHAR"
        ),
        ("NSCKImportOperation", "ZIMPORTDATE TIMESTAMP, ZOPERATIONUUID BLOB, ZCHANGETOKENBYTES BLOB"),
        (
            "NSCKImportPendingRelationship",
            """
            ZNEEDSDELETE INTEGER, ZOPERATION INTEGER, ZCDENTITYNAME VARCHAR, ZRECORDNAME VARCHAR, \
            ZRELATEDRECORDNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR
            """
        ),
        (
            "NSCKMetadataEntry",
            """
            ZBOOLVALUENUM INTEGER, ZINTEGERVALUE INTEGER, ZDATEVALUE TIMESTAMP, ZKEY VARCHAR, ZSTRINGVALUE VARCHAR, \
            ZTRANSFORMEDVALUE BLOB
            """
        ),
        (
            "NSCKMirroredRelationship",
            """
            ZISUPLOADED INTEGER, ZNEEDSDELETE INTEGER, ZRECORDZONE INTEGER, ZCDENTITYNAME VARCHAR, ZCKRECORDID VARCHAR, \
            ZRECORDNAME VARCHAR, ZRELATEDENTITYNAME VARCHAR, ZRELATEDRECORDNAME VARCHAR, ZRELATIONSHIPNAME VARCHAR
            """
        ),
        ("NSCKMirroredRelationshipSystemFieldsAsset", "ZMIRROREDRELATIONSHIP INTEGER, ZBINARYDATA BLOB"),
        (
            "NSCKRecordMetadata",
            """
            ZENTITYID INTEGER, ZENTITYPK INTEGER, ZLASTEXPORTEDTRANSACTIONNUMBER INTEGER, ZNEEDSCLOUDDELETE INTEGER, \
            ZNEEDSLOCALDELETE INTEGER, ZNEEDSUPLOAD INTEGER, ZPENDINGEXPORTCHANGETYPENUMBER INTEGER, \
            ZPENDINGEXPORTTRANSACTIONNUMBER INTEGER, ZENCODEDRECORDASSET INTEGER, ZRECORDZONE INTEGER, \
            ZSYSTEMFIELDSASSET INTEGER, ZCKRECORDNAME VARCHAR
            """
        ),
        ("NSCKRecordMetadataEncodedRecordAsset", "ZRECORDMETADATA INTEGER, ZBINARYDATA BLOB"),
        ("NSCKRecordMetadataSystemFieldsAsset", "ZRECORDMETADATA INTEGER, ZBINARYDATA BLOB"),
        ("NSCKRecordZoneMetadata", "ZDATABASE INTEGER, ZCKOWNERNAME VARCHAR, ZCKRECORDZONENAME VARCHAR, ZTOKEN BLOB"),
        ("NSCKRecordZoneMetadataEncodedShareAsset", "ZRECORDZONE INTEGER, ZBINARYDATA BLOB"),
        ("NSCKRecordZoneMoveReceipt", "ZRECORDMETADATA INTEGER, ZMOVEDAT TIMESTAMP, ZRECORDNAME VARCHAR"),
        ("NSCKRecordZoneQuery", "ZZONE INTEGER, ZLASTFETCHDATE TIMESTAMP, ZPREDICATE BLOB"),
    ]

    static let tables = entities.map { table(of: $0.name) }

    static func table(of entity: String) -> String { "A" + entity.uppercased() }

    /// Tables, indexes, and what Core Data writes when it begins to mirror.
    static var empty: String {
        var sql = entities.map {
            "CREATE TABLE \(table(of: $0.name)) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \($0.columns) );"
        }
        for (entity, name, columns) in [
            ("NSCKRecordMetadata", "entityId_entityPK", ["ZENTITYID", "ZENTITYPK"]),
            ("NSCKRecordMetadata", "ckRecordName_recordZone", ["ZCKRECORDNAME", "ZRECORDZONE"]),
            ("NSCKHistoryAnalyzerState", "entityId_entityPK", ["ZENTITYID", "ZENTITYPK"]),
        ] {
            let key = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
            sql.append("CREATE UNIQUE INDEX Z_\(entity)_UNIQUE_\(name) ON \(table(of: entity)) (\(key));")
        }
        sql.append("CREATE INDEX ANSCKRECORDMETADATA_ZRECORDZONE_INDEX ON ANSCKRECORDMETADATA (ZRECORDZONE);")
        sql.append(
            """
            INSERT INTO ANSCKMETADATAENTRY (Z_ENT, Z_OPT, ZKEY, ZINTEGERVALUE, ZTRANSFORMEDVALUE) VALUES \
            (17009, 1, 'PFCloudKitMetadataFrameworkVersionKey', 1, NULL), \
            (17009, 1, 'PFCloudKitMetadataModelVersionHashesKey', NULL, x'010203');
            INSERT INTO ANSCKDATABASEMETADATA VALUES (1, 17001, 3, 2, 7.25, 'private', x'00ff');
            INSERT INTO ANSCKRECORDZONEMETADATA VALUES (1, 17015, 2, 1, 'owner', 'com.apple.coredata.cloudkit.zone', x'0102');
            INSERT INTO ANSCKEVENT WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) \
            SELECT i, 17002, 1, i % 3, 1, i + 0.5, CAST(printf('%016d', i * 7919) AS BLOB) FROM n;
            """)
        return sql.joined(separator: "\n")
    }

    /// A row about every object of these tables: some wait for upload, some have never been sent.
    static func records(of tables: [String]) -> String {
        tables.map { table in
            """
            INSERT INTO ANSCKRECORDMETADATA (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZLASTEXPORTEDTRANSACTIONNUMBER, \
            ZNEEDSCLOUDDELETE, ZNEEDSLOCALDELETE, ZNEEDSUPLOAD, ZRECORDZONE, ZCKRECORDNAME) \
            SELECT 17012, 1, Z_ENT, Z_PK, Z_PK % 9, 0, 0, Z_PK % 5 = 0, 1, \
            CASE WHEN Z_PK % 7 THEN 'record ' || Z_ENT || '.' || Z_PK END FROM \(table) ORDER BY Z_PK;
            INSERT INTO ANSCKHISTORYANALYZERSTATE (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZFINALCHANGETYPENUM) \
            SELECT 17006, 1, Z_ENT, Z_PK, 1 FROM \(table) WHERE Z_PK % 4 = 0 ORDER BY Z_PK;
            """
        }.joined(separator: "\n")
    }

    /// What belongs to the records, and Core Data's rows of Z_PRIMARYKEY: `numbers` are of no entity of the app's.
    static var belongings: String {
        var sql = [
            """
            INSERT INTO ANSCKRECORDMETADATASYSTEMFIELDSASSET (Z_ENT, Z_OPT, ZRECORDMETADATA, ZBINARYDATA) \
            SELECT 17014, 1, Z_PK, zeroblob(40) FROM ANSCKRECORDMETADATA WHERE ZCKRECORDNAME IS NOT NULL;
            INSERT INTO ANSCKMIRROREDRELATIONSHIPSYSTEMFIELDSASSET (Z_ENT, Z_OPT, ZMIRROREDRELATIONSHIP, ZBINARYDATA) \
            SELECT 17011, 1, Z_PK, zeroblob(20) FROM ANSCKMIRROREDRELATIONSHIP;
            INSERT INTO ANSCKRECORDZONEMOVERECEIPT (Z_ENT, Z_OPT, ZRECORDMETADATA, ZMOVEDAT) VALUES (17017, 1, NULL, 1.5);
            """
        ]
        for (place, entity) in entities.enumerated() {
            sql.append(
                """
                INSERT INTO Z_PRIMARYKEY SELECT \(17_001 + place), '\(entity.name)', 0, ifnull(max(Z_PK), 0) + 3 \
                FROM \(table(of: entity.name));
                """)
        }
        return sql.joined(separator: "\n")
    }

    /// A mirrored link of a many-to-many relationship for each row of a join table.
    static func links(_ entity: String, _ relationship: String, _ other: String, rows: Int) -> String {
        """
        INSERT INTO ANSCKMIRROREDRELATIONSHIP (Z_ENT, Z_OPT, ZISUPLOADED, ZRECORDZONE, ZCDENTITYNAME, ZRECORDNAME, \
        ZRELATEDENTITYNAME, ZRELATEDRECORDNAME, ZRELATIONSHIPNAME) \
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(rows)) \
        SELECT 17010, 1, 1, 1, '\(entity)', 'record ' || i, '\(other)', 'other ' || i, '\(relationship)' FROM n;
        INSERT INTO ANSCKIMPORTPENDINGRELATIONSHIP (Z_ENT, Z_OPT, ZNEEDSDELETE, ZCDENTITYNAME, ZRELATIONSHIPNAME) \
        VALUES (17008, 1, 0, '\(entity)', '\(relationship)');
        """
    }
}

/// A library that CloudKit mirrors. V2 has an entity more, before all others, so that all get other numbers, and
/// attributes more; V3 lacks an entity; V4 lacks a many-to-many relationship.
enum MirroredLibrary {
    private static let author = entity(
        "Author", attribute("name"), toMany("books", "Book", inverse: "author"))
    private static func book(_ extra: String = "", tags: Bool = true) -> String {
        entity(
            "Book", attribute("title"), extra, toOne("author", "Author", inverse: "books"),
            tags ? toMany("tags", "Tag", inverse: "books") : "")
    }
    private static let comic = entity("Comic", parent: "Book", attribute("colours", "Integer 32"))
    private static let gone = entity("Gone", attribute("note"))
    private static func tag(books: Bool = true) -> String {
        entity("Tag", attribute("word"), books ? toMany("books", "Book", inverse: "tags") : "")
    }
    private static let added = entity("Aardvark", attribute("name"))
    private static let pages = attribute("pages", "Integer 32", default: "7")

    static let versions = [
        model(author, book(), comic, gone, tag()),
        model(added, author, book(pages), comic, gone, tag()),
        model(added, author, book(pages), comic, tag()),
        model(added, author, book(pages, tags: false), comic, tag(books: false), entity("Zebra")),
    ]

    /// As many objects of each entity.
    static func rows(_ count: Int = 60) -> String {
        func fill(_ table: String, _ columns: String, _ values: String, _ rows: Int? = nil) -> String {
            """
            INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT, \(columns)) \
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(rows ?? count)) \
            SELECT i, \(values) FROM n;
            """
        }
        return [
            fill("ZAUTHOR", "ZNAME", "1, 1, 'author ' || i"),
            fill("ZBOOK", "ZTITLE, ZAUTHOR", "2 + (i % 3 = 0), 2, 'title ' || i, 1 + i % 20", count * 3),
            fill("ZGONE", "ZNOTE", "4, 1, 'note ' || i", 30), fill("ZTAG", "ZWORD", "5, 1, 'word ' || i"),
            MirrorTables.empty, MirrorTables.records(of: ["ZAUTHOR", "ZBOOK", "ZGONE", "ZTAG"]),
            """
            INSERT INTO ANSCKRECORDMETADATA (Z_ENT, ZENTITYID, ZENTITYPK, ZNEEDSCLOUDDELETE, ZNEEDSUPLOAD, ZRECORDZONE, \
            ZCKRECORDNAME) VALUES (17012, 2, 9999, 1, 0, 1, 'deleted here'), (17012, 4, 9998, 1, 0, 1, 'so is this');
            """,
            MirrorTables.links("Book", "tags", "Tag", rows: 45),
            MirrorTables.links("Other", "friends", "Other", rows: 2),
            MirrorTables.belongings, changes,
        ].joined(separator: "\n")
    }

    private static let changes = """
        INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 50), (16002, 'TRANSACTION', 0, 9), \
        (16003, 'TRANSACTIONSTRING', 0, 2);
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES (9, 16002, 1, 1.5);
        INSERT INTO ACHANGE (Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES
        (40, 16001, 1, 0, 1, 3, 9), (41, 16001, 1, 1, 2, 4, 9), (42, 16001, 1, 1, 4, 5, 9), (43, 16001, 1, 2, 5, 5, 9);
        """

    /// A store of V1; `last` is how many versions there are.
    static func scenario(_ last: Int = 4, rows: Int = 60) throws -> Scenario {
        try Scenario(versions: Array(versions.prefix(last)), history: true, rows: self.rows(rows))
    }
}

extension Scenario {
    /// A request that carries the mirror.
    func carrying(
        to target: String? = nil, fuses: Bool = true, batchRows: Int = 100, engine: EngineChoice = .auto
    ) -> MigrationRequest {
        var request = request(to: target ?? lastVersion, fuses: fuses, batchRows: batchRows, engine: engine)
        request.cloudKit = .carry
        return request
    }

    /// What the mirror says about objects, each named by its entity, in a store at `path`.
    func mirror(_ path: String? = nil) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        for table in MirrorTables.tables {
            let names = try Database.rows(
                "SELECT name FROM pragma_table_info('\(table)') ORDER BY cid", in: path ?? store
            ).map { $0.dropFirst().dropLast() }
            guard !names.isEmpty else { continue }
            let columns = names.map { name in
                name == "ZENTITYID" ? "(SELECT Z_NAME FROM Z_PRIMARYKEY AS e WHERE e.Z_ENT = t.ZENTITYID)" : "t.\(name)"
            }
            result[table] = try Database.rows(
                "SELECT \(columns.joined(separator: ", ")) FROM \(table) AS t ORDER BY Z_PK", in: path ?? store)
        }
        return result
    }
}
