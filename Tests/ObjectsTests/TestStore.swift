import CausewayEngine
import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import Foundation

/// A store of the test model in a file of its own, removed with it.
final class TestStore {
    let folder: URL
    let map: StorageMap
    private let connection: Connection

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "causeway-objects-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let layout = try TestModel.layout()
        map = try StorageMap(layout)
        connection = try Connection(
            path: folder.appending(path: "Store.sqlite").path, mode: .create, hardening: .own)
        try connection.setPragma("synchronous", to: "OFF")
        for statement in try layout.statements().tableStatements { try connection.execute(statement.sql) }
        try connection.begin()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    var access: StoreAccess {
        StoreAccess { [self] sql throws(SQLiteError) in try connection.prepare(sql) }
    }

    func context(capacity: Int = ObjectContext.defaultCapacity, countsChanges: Bool = false) -> ObjectContext {
        let keys = KeySource(KeySpace(last: map.tables.map { _ in 0 }))
        let output = StatementPolicyRowOutput(map, access, countsChanges: countsChanges)
        return make(.writable(keys, output), access, capacity: capacity)
    }

    func reader(capacity: Int = ObjectContext.defaultCapacity) -> ObjectContext {
        make(.readOnly, access, capacity: capacity)
    }

    func worker() -> ObjectContext { make(.detached, nil) }

    private func make(
        _ mode: ObjectContext.Mode, _ access: StoreAccess?, capacity: Int = ObjectContext.defaultCapacity
    ) -> ObjectContext {
        ObjectContext(
            map, side: .destination, mode: mode, storeUUID: "STORE", access: access, capacity: capacity
        ) { Array($0.dropFirst()) }
    }

    func execute(_ sql: String) throws { try connection.execute(sql) }

    /// The cells of a query as SQLite prints them; NULL is `-`.
    func rows(_ sql: String) throws -> [String] {
        var statement = try connection.prepare(sql)
        var result: [String] = []
        while try statement.step() {
            let cells = try (0..<statement.columnCount).map { column in
                switch statement.type(at: column) {
                case .null: "-"
                case .blob: (statement.bytes(at: column) ?? []).map { String($0) }.joined(separator: ".")
                case .integer: String(statement.int64(at: column))
                case .real: "\(statement.double(at: column))"
                case .text: try statement.string(at: column) ?? ""
                }
            }
            result.append(cells.joined(separator: " "))
        }
        return result
    }

    func row(_ sql: String) throws -> String { try rows(sql).joined(separator: " | ") }

    /// Every row of every table.
    func content() throws -> [String] {
        var result: [String] = []
        for table in map.layout.tables.map(\.name) + map.layout.joinTables.map(\.name) {
            result += try rows("SELECT * FROM \(table) ORDER BY 1, 2").map { "\(table): \($0)" }
        }
        return result
    }
}

extension ManagedObject {
    /// A relationship's members by name.
    func names(_ key: PropertyKey, _ name: PropertyKey = "name") throws -> [String] {
        try objects(key).map { try $0.string(name) ?? "-" }
    }
}

extension ObjectContext {
    /// A new object with a name.
    func make(_ entity: String, _ name: String, _ key: PropertyKey = "name") throws -> ManagedObject {
        let object = try insert(entity)
        try object.set(key, to: name)
        return object
    }

    func people(_ names: String...) throws -> [ManagedObject] { try names.map { try make("Person", $0) } }
    func notes(_ names: String...) throws -> [ManagedObject] { try names.map { try make("Note", $0, "title") } }
}
