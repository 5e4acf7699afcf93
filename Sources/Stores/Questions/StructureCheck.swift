package import CausewaySQLite

/// What SQLite itself finds wrong with a database: the structure of every page and row.
///
/// SQLite reports a page that can't be read as a finding, and its consequences as others. A failing disk and a lack of
/// memory say nothing about the database: they are thrown.
package enum StructureCheck {
    /// Findings that are listed; SQLite stops there.
    package static let namedFindings = 20

    /// Reads every page, and twice if anything is wrong.
    ///
    /// - Parameters:
    ///   - database: what is read.
    ///   - withIndexes: also compares every index with its table's rows, and looks for duplicate values in unique ones.
    ///   - table: only this table, with its indexes; `sqlite_schema` is the schema's, with the list of free pages. Then
    ///     nothing is said about pages that no tree uses. SQLite before 3.33 reads every page anyway.
    /// - Returns: nothing where the database is sound.
    /// - Throws: where it couldn't be read, or reads differently each time.
    package static func findings(
        _ database: borrowing Connection, withIndexes: Bool, of table: String? = nil
    ) throws(SQLiteError) -> [String] {
        let findings = try read(database, withIndexes: withIndexes, of: table)
        guard findings != ["ok"] else { return [] }
        for finding in findings { try requireRead(finding, database.path) }
        // Not every failure to read says so, and the disk may have failed for a moment.
        guard try read(database, withIndexes: withIndexes, of: table) == findings else {
            throw SQLiteError(
                code: .ioErrorRead, message: "pages read differently each time; check the disk and the memory",
                path: database.path)
        }
        // The order of a WITHOUT ROWID table isn't known where a collating sequence has a stand-in.
        let hasLent = try !database.lentCollations().isEmpty
        var real: [String] = []
        for finding in findings {
            if hasLent, finding.hasPrefix("row not in PRIMARY KEY order for ") { continue }
            if try !isDenied(finding, database) { real.append(finding) }
        }
        return real
    }

    /// Whether SQLite can check a single table (https://www.sqlite.org/releaselog/3_33_0.html).
    package static var knowsTables: Bool { SQLiteLibrary.versionNumber >= 3_033_000 }

    /// Whether SQLite finds nothing wrong with a table, its rows and its indexes' pages; false also where it can't be
    /// read. `sqlite_schema` is the schema's, with the list of free pages.
    ///
    /// - Parameters:
    ///   - database: what is read.
    ///   - withIndexes: also compares the indexes with the rows.
    ///   - table: its name.
    /// - Returns: whether SQLite says that it is sound.
    package static func isSound(_ database: borrowing Connection, withIndexes: Bool, _ table: String) -> Bool {
        do {
            return try read(database, withIndexes: withIndexes, of: table) == ["ok"]
        } catch {
            return false
        }
    }

    /// SQLite 3.40 confuses columns of some WITHOUT ROWID tables: it reports NULL in a column that has none.
    private static func isDenied(_ finding: String, _ database: borrowing Connection) throws(SQLiteError) -> Bool {
        let beginning = "NULL value in "
        guard finding.hasPrefix(beginning) else { return false }
        let place = finding.dropFirst(beginning.count)
        for dot in place.indices where place[dot] == "." {
            guard let table = try? SQLIdentifier(String(place[..<dot])),
                let column = try? SQLIdentifier(String(place[place.index(after: dot)...]))
            else { continue }
            do throws(SQLiteError) {
                var statement = try database.prepare("SELECT 1 FROM \(table) WHERE \(column) IS NULL LIMIT 1")
                return try !statement.step()
            } catch {
                // Another dot may be the one between the two names.
                guard error.code == .error else { throw error }
            }
        }
        return false
    }

    private static func read(
        _ database: borrowing Connection, withIndexes: Bool, of table: String?
    ) throws(SQLiteError) -> [String] {
        // Of one table SQLite lists up to 100.
        let range = try table.map { (name) throws(SQLiteError) in try SQLIdentifier(name).quoted }
        var statement = try database.prepare(
            "PRAGMA \(withIndexes ? "integrity_check" : "quick_check")(\(range ?? String(namedFindings)))")
        var findings: [String] = []
        while findings.count < namedFindings, try statement.step() {
            findings.append(try statement.string(at: 0) ?? "")
        }
        return findings
    }

    /// Findings that aren't damage (btree.c): `… error code=10`, and a page with a valid number that can't be read.
    private static func requireRead(_ finding: String, _ path: String?) throws(SQLiteError) {
        var code: ResultCode = .ioErrorRead
        if let place = finding.firstRange(of: "error code=") {
            let digits = finding[place.upperBound...].prefix { $0.isASCII && $0.isNumber }
            guard let number = Int32(digits) else { return }
            code = ResultCode(rawValue: number)
        } else if !finding.contains("failed to get page") {
            return
        }
        switch code {
        case .corrupt, .notADatabase: return
        default:
            throw SQLiteError(
                code: code, message: "a page can't be read; check the disk and the memory that is free", path: path)
        }
    }
}
