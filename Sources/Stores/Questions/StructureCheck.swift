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

    /// What SQLite finds wrong with a whole database.
    package struct Findings {
        /// Rows or indexes may be lost, or wrong.
        package var damage: [String] = []
        /// No row and no index entry is concerned: a copy of all rows is whole.
        package var space: [String] = []
    }

    /// Reads every page; a second time, table by table, where findings about space may hide others.
    ///
    /// - Parameters:
    ///   - database: what is read.
    ///   - withIndexes: also compares every index with its table's rows.
    ///   - tables: names of all its tables.
    /// - Returns: the findings, by what they are about.
    /// - Throws: as the check of one table.
    package static func sorted(
        _ database: borrowing Connection, withIndexes: Bool, tables: [String]
    ) throws(SQLiteError) -> Findings {
        let findings = try Self.findings(database, withIndexes: withIndexes)
        var result = Findings()
        for finding in findings {
            if concern(of: finding) == .space { result.space.append(finding) } else { result.damage.append(finding) }
        }
        let tellsOfLoss = result.space.contains { $0.contains("ptr map entry") } && findings.contains(where: isUnused)
        // The pointer map may be right, and tell that a tree has lost the page that nobody uses now.
        if tellsOfLoss { return Findings(damage: findings) }
        guard result.damage.isEmpty, findings.count >= namedFindings else { return result }
        // SQLite stopped there, and looks at the content of rows last.
        guard knowsTables else { return Findings(damage: findings) }
        for table in tables + ["sqlite_schema"] {
            let found = try Self.findings(database, withIndexes: withIndexes, of: table)
            result.damage += found.filter { concern(of: $0) != .space }
        }
        return result
    }

    /// What a finding is about.
    package enum Concern: Hashable, Sendable {
        /// The rows of a table, or its pages: rows may be lost or wrong.
        case rows
        /// The entries of an index: its table's rows are whole.
        case index
        /// Space that holds nothing, and the lists of it: every row and every index is whole.
        case space
    }

    /// SQLite's sentences (btree.c, pragma.c of 3.7 to 3.50) that aren't about rows; those of newer versions differ in
    /// where they name the page. All other sentences are about rows: about the pages of a tree, where SQLite often
    /// doesn't say of which one, and about the values in a table. So are bytes of a page that nothing accounts for
    /// ("Fragmentation of …"): a row may have been there.
    private static let concerns: [(concern: Concern, sentence: String)] = [
        // No tree, and no list of free pages, has the page. What SQLite gives to nobody it never reads.
        (.space, " is never used"), (.space, ": never used"),
        // The list of free pages and their number in the header. A page that is also in a tree is reported there.
        (.space, "Main freelist: "), (.space, "Freelist: "),
        // The pointer map, by which SQLite moves pages to make a file shorter. Rows are read without it.
        (.space, "ptr map entry"), (.space, "ptrmap key"), (.space, "Pointer map page"),
        (.space, "pointer map referenced"),
        (.space, "max rootpage"),
        (.index, "missing from index "), (.index, "entries in index "), (.index, "entry in index "),
        (.index, "values differ from index "), (.index, " of index "), (.index, "imprecise floating-point"),
    ]

    private static func isUnused(_ finding: String) -> Bool { finding.hasSuffix("never used") }

    package static func concern(of finding: String) -> Concern {
        concerns.first { finding.contains($0.sentence) }?.concern ?? .rows
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
            // What SQLite finds in b-trees is one text of several lines, with a title.
            findings += (try statement.string(at: 0) ?? "").split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("*** in database ") }
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
