import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

/// Names of a model that become part of SQL.
enum GeneratedSQLChecks {
    /// One of each era of layouts (`FrameworkEra`).
    private static let frameworkVersions = [419, 752, 1_344]
    /// Entities and properties of the largest model that is laid out here: each run makes every table.
    private static let maximumProperties = 400

    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        try quoting(String(decoding: bytes.prefix(SQLIdentifier.maximumLength), as: UTF8.self))
        guard
            let model = try BrokenPromise.unlessRefused({ () throws(ModelError) in
                try ModelReader.model(source: bytes)
            })
        else { return }
        let size = model.entities.values.reduce(0) { $0 + 1 + $1.attributes.count + $1.relationships.count }
        guard size <= maximumProperties else { return }
        for version in frameworkVersions { try tables(of: model, version) }
    }

    /// A name is quoted as one name, whatever it holds.
    private static func quoting(_ name: String) throws(BrokenPromise) {
        guard
            let identifier = try BrokenPromise.unlessRefused({ () throws(SQLiteError) in try SQLIdentifier(name) })
        else { return }
        let names = try BrokenPromise.unlessDone("a quoted name isn't SQL") { () throws(SQLiteError) in
            let connection = try Connection.inMemory(hardening: .untrusted)
            try connection.execute("CREATE TABLE t (\(identifier) INTEGER)")
            var statement = try connection.prepare("PRAGMA table_info(t)")
            var names: [[UInt8]] = []
            while try statement.step() { names.append(statement.bytes(at: 1) ?? []) }
            return names
        }
        try BrokenPromise.unless(names == [Array(name.utf8)], "a quoted name is another name, or several")
    }

    /// A model that has a layout gives statements that SQLite accepts, one at a time.
    private static func tables(of model: ManagedObjectModel, _ version: Int) throws(BrokenPromise) {
        guard
            let statements = try BrokenPromise.unlessRefused({ () throws(StoreFormatError) in
                try StoreLayout(model: model, frameworkVersion: version, hints: LayoutHints()).statements()
            })
        else { return }
        try BrokenPromise.unlessDone("framework \(version): a statement of a model isn't SQL") {
            () throws(SQLiteError) in
            let connection = try Connection.inMemory(hardening: .own)
            for statement in statements.inOrder {
                var prepared = try connection.prepare(statement.sql)
                try prepared.run()
            }
        }
    }
}
