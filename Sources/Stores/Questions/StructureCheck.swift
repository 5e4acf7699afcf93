package import CausewaySQLite

/// What SQLite itself finds wrong with a database: the structure of every page and row.
///
/// SQLite reports a page that can't be read as a finding, and its consequences as others. A failing disk and a lack of
/// memory say nothing about the database: they are thrown.
package struct StructureCheck {
    /// Findings that are listed; SQLite stops there.
    static let namedFindings = 20
    /// Also compares every index with its table's rows, and looks for duplicate values in unique ones.
    package let withIndexes: Bool

    package init(withIndexes: Bool) {
        self.withIndexes = withIndexes
    }

    /// Reads every page, and twice if anything is wrong.
    ///
    /// - Returns: nothing where the database is sound.
    /// - Throws: where it couldn't be read, or reads differently each time.
    package func findings(_ database: borrowing Connection) throws(SQLiteError) -> [String] {
        let findings = try read(database)
        guard findings != ["ok"] else { return [] }
        for finding in findings { try Self.requireRead(finding, database.path) }
        // Not every failure to read says so, and the disk may have failed for a moment.
        guard try read(database) == findings else {
            throw SQLiteError(
                code: .ioErrorRead, message: "pages read differently each time; check the disk and the memory",
                path: database.path)
        }
        var real: [String] = []
        let lent = try database.lentCollations()
        for finding in findings {
            if try Self.isDenied(finding, database) || Self.isOfLentOrder(finding, lent) { continue }
            real.append(finding)
        }
        return real
    }

    /// The order of a WITHOUT ROWID table isn't known where a collating sequence has a stand-in.
    private static func isOfLentOrder(_ finding: String, _ lent: Set<String>) -> Bool {
        !lent.isEmpty && finding.hasPrefix("row not in PRIMARY KEY order for ")
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

    private func read(_ database: borrowing Connection) throws(SQLiteError) -> [String] {
        var statement = try database.prepare(
            "PRAGMA \(withIndexes ? "integrity_check" : "quick_check")(\(Self.namedFindings))")
        var findings: [String] = []
        while try statement.step() { findings.append(try statement.string(at: 0) ?? "") }
        return findings
    }

    /// Findings that aren't damage (btree.c): `… error code=10`, and a page with a valid number that can't be read.
    private static func requireRead(_ finding: String, _ path: String?) throws(SQLiteError) {
        var code: ResultCode = .ioErrorRead
        if let place = finding.range(of: "error code=") {
            let digits = finding[place.upperBound...].prefix { $0.isASCII && $0.isNumber }
            guard let number = Int32(digits) else { return }
            code = ResultCode(rawValue: number)
        } else if finding.range(of: "failed to get page") == nil {
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

extension String {
    /// Where a text stands in another; without Foundation.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
