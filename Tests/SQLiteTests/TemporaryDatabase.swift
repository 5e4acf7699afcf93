import CausewaySQLite
import Foundation

/// A database file for one test, removed with it.
final class TemporaryDatabase {
    let folder: String
    var path: String { folder + "/Store.sqlite" }

    init(_ sql: String = "") throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "causeway-sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.path
        let connection = try Connection(path: path, mode: .create, hardening: .own)
        try connection.execute(sql)
        try connection.close()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func open(_ mode: Connection.Mode = .readWrite, _ hardening: Hardening = .own) throws -> Connection {
        let connection = try Connection(path: path, mode: mode, hardening: hardening)
        try connection.setBusyTimeout(milliseconds: 0)
        return connection
    }
}

/// The one integer that a query gives.
func integer(_ sql: String, _ connection: borrowing Connection) throws -> Int64? {
    var statement = try connection.prepare(sql)
    guard try statement.step(), !statement.isNull(at: 0) else { return nil }
    return statement.int64(at: 0)
}
