import Foundation

/// The work as a person would write it in SQL, with the tables and indexes that the migration makes.
struct HandSQL {
    private let place: Workplace
    private let task: ArchiveTask
    private let archive: Archive
    private let source: Database
    private let reference: Database

    /// The task is the one whose result is the place's reference.
    init(_ place: Workplace, _ task: ArchiveTask) throws {
        (self.place, self.task) = (place, task)
        archive = Archive(shape: place.shape, change: task.change, steps: task.steps)
        source = try Database("file:\(place.source)?immutable=1")
        reference = try Database("file:\(place.reference)?immutable=1")
    }

    /// Writes both scripts.
    func write() throws {
        try transfer().write(toFile: place.script("transfer", task), atomically: true, encoding: .utf8)
        try alteration().write(toFile: place.script("alter", task), atomically: true, encoding: .utf8)
    }

    /// A new store by `INSERT … SELECT`, indexes afterwards, nothing journalled and nothing synced.
    private func transfer() throws -> String {
        var lines = [
            "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL",
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
            "ATTACH 'file:\(place.source)?immutable=1' AS source",
        ]
        lines += try schema("type = 'table'")
        for table in try tables() where !Self.isHouse(table) {
            guard let old = try sourceTable(table) else { continue }
            let columns = try reference.columns(of: table)
            let values = try values(columns, in: table, of: old)
            lines.append(
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
                    + "SELECT \(values.joined(separator: ", ")) FROM source.\(old)")
        }
        lines += try tables().filter(Self.isHouse).flatMap(houseRows)
        lines += try schema("type = 'index' OR type = 'trigger'")
        return Self.script(lines)
    }

    /// The same store, changed where it is.
    private func alteration() throws -> String {
        var lines = ["PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"]
        for entity in archive.changed {
            let table = "Z\(entity.uppercased())"
            lines.append("ALTER TABLE \(table) RENAME COLUMN ZTITLE0 TO ZTITLE\(task.steps)")
            lines.append("ALTER TABLE \(table) ADD COLUMN ZEXTRA\(task.steps) INTEGER DEFAULT \(task.steps)")
            lines.append("ALTER TABLE \(table) DROP COLUMN ZEXTRA0")
        }
        for table in try tables() where !Self.isHouse(table) {
            guard let old = try sourceTable(table) else {
                lines += try schema("type = 'table' AND name = '\(table)'")
                continue
            }
            if old != table { lines.append("ALTER TABLE \(old) RENAME TO \(table)") }
            let oldColumns = Set(try source.columns(of: old))
            for column in try reference.columns(of: table) where !oldColumns.contains(column) {
                let former = renumbered(column)
                if former != column { lines.append("ALTER TABLE \(table) RENAME COLUMN \(former) TO \(column)") }
            }
            if task.change == .entity, oldColumns.contains("Z_ENT") {
                lines.append("UPDATE \(table) SET Z_ENT = Z_ENT + \(task.steps)")
            }
        }
        for table in try tables() where Self.isHouse(table) {
            lines.append("DELETE FROM \(table)")
            lines += try houseRows(table)
        }
        return Self.script(lines)
    }

    private static func script(_ lines: [String]) -> String { lines.map { "\($0);\n" }.joined() }

    /// Some kilobytes whatever the store's size.
    private static func isHouse(_ table: String) -> Bool {
        ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"].contains(table)
    }

    private func tables() throws -> [String] { try reference.tables() }

    private func schema(_ condition: String) throws -> [String] {
        try reference.texts(
            "SELECT sql FROM sqlite_schema WHERE (\(condition)) AND sql IS NOT NULL AND name NOT GLOB 'sqlite_*' "
                + "ORDER BY rowid")
    }

    /// The reference's rows as they are.
    private func houseRows(_ table: String) throws -> [String] {
        let values = try reference.columns(of: table).map { "quote(\($0))" }.joined(separator: " || ',' || ")
        return try reference.texts("SELECT 'INSERT INTO \(table) VALUES (' || \(values) || ')' FROM \(table)")
    }

    /// The table that its rows come from; nil for a new entity's.
    private func sourceTable(_ table: String) throws -> String? {
        let known = Set(try source.tables())
        return [table, renumbered(table)].first(where: known.contains)
    }

    private func values(_ columns: [String], in table: String, of old: String) throws -> [String] {
        let known = Set(try source.columns(of: old))
        return try columns.map { column in
            if column == "Z_ENT", task.change == .entity { return "Z_ENT + \(task.steps)" }
            if let name = [column, renumbered(column)].first(where: known.contains) { return name }
            if column == "ZTITLE\(task.steps)" { return "ZTITLE0" }
            if column == "ZEXTRA\(task.steps)" { return String(task.steps) }
            throw BenchmarkError("\(table).\(column): nothing in the source becomes it")
        }
    }

    /// `Z_3TAGS` as it was before its entity's number grew: `Z_2TAGS`. Other names stay.
    private func renumbered(_ name: String) -> String {
        guard task.change == .entity, let match = name.wholeMatch(of: /Z_(\d+)(.+)/), let number = Int(match.1) else {
            return name
        }
        return "Z_\(number - task.steps)\(match.2)"
    }
}

extension Database {
    /// In the order of the schema, SQLite's own left out.
    func tables() throws -> [String] {
        try texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY rowid")
    }

    func columns(of table: String) throws -> [String] {
        try texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
    }
}
