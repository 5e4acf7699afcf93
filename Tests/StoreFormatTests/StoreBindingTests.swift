import CausewayModel
import CausewaySQLite
import CausewayStoreFormat
import Testing

@Suite(.timeLimit(.minutes(60))) struct StoreBindingTests {
    /// Binds the library's model to a store that was changed after it was made.
    private func bind(_ changes: String, entities: String = TestModels.library) throws -> StoreBinding {
        let model = try TestModels.model(entities)
        let store = try TestModels.store(try StoreLayout(model: model, frameworkVersion: 1509))
        try store.execute(changes)
        return try StoreBinding(try StoreSchema(reading: store), model: model, frameworkVersion: 1509)
    }

    @Test("a fresh store binds to the layout that made it")
    func fresh() throws {
        let binding = try bind("SELECT 1")
        let expected = try TestModels.layout(TestModels.library, hints: LayoutHints(binding.schema))
        #expect(binding.layout.tables == expected.tables)
        #expect(binding.layout.joinTables == expected.joinTables)
        #expect(binding.schema.isFresh)
        #expect(binding.schema.primaryKeys.map(\.name) == ["Author", "Book"])
        #expect(binding.objects.allSatisfy { [.coreData, .sqliteInternal].contains($0.origin) })
        try binding.requireComplete()
    }

    @Test("columns are found by name in any order; unknown ones are listed")
    func order() throws {
        let binding = try bind(
            """
            DROP TABLE ZBOOK;
            CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR, zpages INTEGER,
            ZOLD BLOB , ZAUTHOR INTEGER);
            """)
        try binding.requireComplete()
        #expect(binding.layout.table(of: "Book")?.columns.map(\.name).suffix(3) == ["ZTITLE", "zpages", "ZAUTHOR"])
        #expect(binding.extraColumns == ["ZBOOK": ["ZOLD"]])
        #expect(binding.schema.table("ZBOOK")?.position(of: "ZAUTHOR") == 6)
        #expect(!binding.schema.isFresh)
    }

    @Test("a join table is found under its other side's name and with clash numbers")
    func turnedJoinTable() throws {
        let binding = try bind(
            """
            DROP TABLE Z_1READ;
            CREATE TABLE "Z_2READERS" ( Z_2READ2 INTEGER, Z_1READERS INTEGER, PRIMARY KEY (Z_2READ2, Z_1READERS) );
            """)
        try binding.requireComplete()
        let join = try #require(binding.layout.joinTables.first)
        #expect(join.owner == "Book")
        #expect(join.relationship == "readers")
        #expect(join.ownerColumn == "Z_2READ2")
        #expect(join.destinationColumn == "Z_1READERS")
    }

    @Test(
        "all missing objects are named",
        arguments: [
            ("ALTER TABLE ZBOOK DROP COLUMN ZPAGES", "Book.pages"), ("DROP TABLE ZBOOK", "Book"),
            ("DROP TABLE Z_1READ", "Author.read"), ("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 2", "Z_PRIMARYKEY"),
            ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 2", "Book"),
            ("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Author' WHERE Z_ENT = 2", "Book"),
            ("DROP TABLE ZBOOK; CREATE VIEW ZBOOK AS SELECT * FROM ZAUTHOR", "Book"),
            ("ALTER TABLE ZBOOK ADD COLUMN G INTEGER AS (1)", "Book"),
            (
                "DROP TABLE ZAUTHOR; CREATE TABLE ZAUTHOR (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZNAME) WITHOUT ROWID",
                "Author"
            ),
            ("DROP TABLE ZAUTHOR; CREATE TABLE ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME)", "Author"),
            (
                "DROP TABLE Z_1READ; CREATE TABLE Z_1READ (Z_1FOO INTEGER, Z_2READ INTEGER, PRIMARY KEY (Z_1FOO, Z_2READ))",
                "Author.read"
            ),
        ])
    func problems(damage: String, place: String) throws {
        let binding = try bind(damage)
        #expect(binding.problems.contains { $0.place == place }, "\(binding.problems)")
        #expect(throws: StoreFormatError.self) { try binding.requireComplete() }
    }

    @Test("a store of other entities than the model's: they are named, and so is a configuration")
    func otherEntities() throws {
        let lacking = try bind("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 2").problems
        #expect(lacking.contains { "\($0)".contains("it numbers 1 entities, but the model has 2: it lacks Book;") })
        let cloud = "<configuration name=\"Cloud\"><memberEntity name=\"Author\"/></configuration>"
        let cut = try bind("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 2", entities: TestModels.library + cloud)
        #expect(cut.problems.contains { "\($0)".contains("the entities of the configuration “Cloud” only") })
    }

    @Test("an old entity name in Z_PRIMARYKEY is accepted and reported")
    func staleName() throws {
        let binding = try bind("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Novel' WHERE Z_ENT = 2")
        try binding.requireComplete()
        #expect(binding.staleEntityNames == [2: "Novel"])
    }

    @Test("objects are sorted by their origin")
    func origins() throws {
        let binding = try bind(
            """
            CREATE INDEX ZBOOK_ZTITLE_INDEX ON ZBOOK (ZTITLE);
            CREATE INDEX Z_Book_byTitle ON ZBOOK (ZTITLE COLLATE BINARY ASC);
            CREATE INDEX Z_9READ_Z_8READERS_INDEX ON Z_1READ (Z_2READ);
            CREATE TABLE Z_7OLD ( Z_7A INTEGER, Z_8B INTEGER, PRIMARY KEY (Z_7A, Z_8B) );
            CREATE TRIGGER Z_DA_ZBOOK_Book_old_INSERT AFTER INSERT ON ZBOOK BEGIN SELECT 1; END;
            CREATE INDEX RADAR_1_INDEX ON ZBOOK (ZPAGES);
            CREATE INDEX Z_1READ_Z_FOK_1READ_INDEX ON Z_1READ (Z_2READ);
            CREATE TRIGGER ZT_counts AFTER INSERT ON ZBOOK BEGIN SELECT 1; END;
            CREATE VIEW titles AS SELECT ZTITLE FROM ZBOOK;
            CREATE TABLE notes (text);
            CREATE VIRTUAL TABLE places USING rtree(id, x0, x1);
            CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY);
            CREATE INDEX ANSCK_INDEX ON ANSCKEVENT (Z_PK);
            CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK,
                ZTRANSACTIONID, ZTOMBSTONE0 BLOB, ZTOMBSTONE1 BLOB);
            CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
            CREATE INDEX by_entity ON ACHANGE (ZENTITY);
            CREATE TABLE Z_9LIVES (cat TEXT);
            """)
        let names = Dictionary(grouping: binding.objects, by: \.origin).mapValues { $0.map(\.object.name) }
        #expect(
            names[.staleCoreData] == [
                "ZBOOK_ZTITLE_INDEX", "Z_Book_byTitle", "Z_9READ_Z_8READERS_INDEX", "Z_7OLD",
                "Z_DA_ZBOOK_Book_old_INSERT",
            ])
        #expect(
            names[.appMade] == [
                "RADAR_1_INDEX", "Z_1READ_Z_FOK_1READ_INDEX", "ZT_counts", "titles", "notes", "places", "places_rowid",
                "places_node", "places_parent", "by_entity", "Z_9LIVES",
            ])
        #expect(names[.cloudKit] == ["ANSCKEVENT", "ANSCK_INDEX"])
        #expect(names[.history] == ["ACHANGE", "ACHANGE_ZTRANSACTIONID_INDEX"])
        #expect(binding.schema.history == HistoryLayout(tombstones: 2, hasStrings: false))
        #expect(names[.sqliteInternal]?.allSatisfy { $0.hasPrefix("sqlite_autoindex_") } == true)
    }

    @Test("tables with the names of history's, but not its columns, are the app's own")
    func lookalikes() throws {
        let binding = try bind(
            "CREATE TABLE ACHANGE (amount REAL); CREATE TABLE ATRANSACTION (id INTEGER PRIMARY KEY);")
        #expect(binding.objects(.appMade).map(\.name) == ["ACHANGE", "ATRANSACTION"])
        #expect(binding.schema.history == nil)
    }

    @Test("tables that have only the names of CloudKit's are the app's own")
    func cloudKitLookalikes() throws {
        let binding = try bind(
            """
            CREATE TABLE ANSCKETCHES (Z_PK INTEGER PRIMARY KEY); CREATE INDEX anscki ON ANSCKETCHES (Z_PK);
            CREATE TABLE ANSCKEVENT (name TEXT);
            """)
        #expect(binding.objects(.appMade).map(\.name) == ["ANSCKETCHES", "anscki", "ANSCKEVENT"])
        #expect(binding.objects(.cloudKit).isEmpty)
    }

    @Test("a database without Core Data's house tables isn't a store")
    func notAStore() throws {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY)")
        var error: StoreFormatError?
        do { _ = try StoreSchema(reading: connection) } catch let thrown { error = thrown }
        #expect(error?.code == .notACoreDataStore)
    }

    @Test("a schema with too many objects is refused")
    func limits() throws {
        let connection = try Connection.inMemory()
        try connection.execute(
            "BEGIN; CREATE TABLE Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX); CREATE TABLE Z_METADATA (a);")
        for number in 0...StoreSchema.maximumObjects / 4 {
            try connection.execute("CREATE VIEW v\(number) AS SELECT '\(String(repeating: "x", count: 7000))'")
        }
        try connection.execute("COMMIT")
        var error: StoreFormatError?
        do { _ = try StoreSchema(reading: connection) } catch let thrown { error = thrown }
        #expect(error?.code == .limitExceeded)
    }
}
