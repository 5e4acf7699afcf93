import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// Small models, written as Xcode writes them.
enum TestModels {
    /// The model of these `<entity>` and `<composite>` elements.
    static func model(_ entities: String) throws -> ManagedObjectModel {
        try ModelReader.model(
            source: Array(
                """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
                """.utf8))
    }

    static func layout(
        _ entities: String, frameworkVersion: Int = 1509, hints: LayoutHints = LayoutHints(),
        width: HashWidth = .bits64
    ) throws -> StoreLayout {
        try StoreLayout(
            model: try model(entities), frameworkVersion: frameworkVersion, hints: hints, width: width)
    }

    /// A fresh store in memory, without metadata.
    static func store(_ layout: StoreLayout, history: Bool = false) throws -> Connection {
        let connection = try Connection.inMemory()
        let statements = try layout.statements()
        for statement in statements.inOrder + (history ? statements.historyStatements : []) {
            try connection.execute(statement.sql)
        }
        for row in layout.primaryKeyRows {
            try connection.execute(
                "INSERT INTO Z_PRIMARYKEY VALUES (\(row.number), '\(row.name)', \(row.parent), 0)")
        }
        return connection
    }

    /// Two entities, linked one to many and many to many.
    static let library = """
        <entity name="Book">
            <attribute name="title" attributeType="String"/>
            <attribute name="pages" attributeType="Integer 32"/>
            <relationship name="author" maxCount="1" destinationEntity="Author" inverseName="books" \
        inverseEntity="Author"/>
            <relationship name="readers" toMany="YES" destinationEntity="Author" inverseName="read" \
        inverseEntity="Author"/>
        </entity>
        <entity name="Author">
            <attribute name="name" attributeType="String"/>
            <relationship name="books" toMany="YES" destinationEntity="Book" inverseName="author" \
        inverseEntity="Book"/>
            <relationship name="read" toMany="YES" destinationEntity="Book" inverseName="readers" \
        inverseEntity="Book"/>
        </entity>
        """
}

extension StoreLayout {
    /// The text that creates the table of an entity; empty where there is none.
    func tableText(_ entity: String) -> String { table(of: entity)?.createStatement ?? "" }

    func sql(_ kind: SchemaStatement.Kind) throws -> [String] {
        try statements().modelStatements.filter { $0.kind == kind }.map(\.sql)
    }
}
