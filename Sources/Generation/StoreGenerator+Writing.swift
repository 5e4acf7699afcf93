import CausewayModel
import CausewaySQLite
import CausewayStoreFormat

extension StoreGenerator {
    /// Rows between two calls of the progress closure: a few a second.
    private static let rowsPerReport = 16_384
    /// Steps of SQLite's virtual machine between two calls while a statement runs: about a tenth of a second.
    private static let instructionsPerReport: Int32 = 10_000_000
    /// KiB of page cache. Each thread of the sorter behind `CREATE INDEX` takes as much again: together they are what
    /// the memory's size is about, however many rows there are.
    private static let cacheSize: Int64 = 65_536
    /// Beside the statement's own.
    private static let sorterThreads: Int32 = 1

    /// Writes the store.
    ///
    /// `progress` is called regularly; when it returns false, the work stops and the partial store is removed.
    /// - Throws: `outputExists` if the store or one of its companion files exists; nothing is touched then. `writing`,
    ///   `unusableModel` or `cancelled`, after which the partial store is removed.
    package func generate(
        at path: String, progress: (GenerationProgress) -> Bool = { _ in true }
    ) throws(GenerationError) {
        let statements = try GenerationError.wrapping { try layout.statements() }
        let house = try HouseRows(self)
        let files = OutputFiles(store: path)
        try files.create()
        do throws(GenerationError) {
            try withoutActuallyEscaping(progress) { progress throws(GenerationError) in
                try write(to: files, statements, house, progress: progress)
            }
            try files.sync()
        } catch {
            throw files.remove(after: error)
        }
    }

    private func write(
        to files: OutputFiles, _ statements: SchemaStatements, _ house: HouseRows,
        progress: @escaping (GenerationProgress) -> Bool
    ) throws(GenerationError) {
        var connection = try open(files)
        // One transaction from an empty file: SQLite journals only pages that were there before, which is none.
        try run("BEGIN EXCLUSIVE", on: connection)
        let last = statements.modelStatements.lastIndex { $0.kind == .entityTable || $0.kind == .joinTable }
        let split = last.map { $0 + 1 } ?? 0
        for statement in statements.modelStatements[..<split] { try run(statement.sql, on: connection) }
        try writeRows(on: connection, files, progress)
        try writeLinks(on: connection, progress)
        // An index of a large table takes minutes.
        let rows = options.rows
        connection.setProgressHandler(everyInstructions: Self.instructionsPerReport) {
            !progress(GenerationProgress(phase: .indexes, object: "", rows: rows, totalRows: rows))
        }
        try finishModel(statements, from: split, on: connection, progress)
        connection.removeProgressHandler()
        try report(.closing, "Z_METADATA", rows: options.rows, progress)
        for statement in statements.houseStatements { try run(statement.sql, on: connection) }
        try house.write(to: connection)
        do throws(SQLiteError) {
            try connection.commit()
            // Last, as in WAL mode the pages above would be written twice.
            try connection.setJournalMode(.wal)
            try connection.close()
        } catch {
            throw GenerationError(.writing, "\(error)")
        }
    }

    /// A connection to the empty file, set up as Core Data does (InsideStoreFormat §1).
    private func open(_ files: OutputFiles) throws(GenerationError) -> Connection {
        try GenerationError.wrapping {
            var hardening = Hardening.own
            hardening.limits.workerThreads = StoreGenerator.sorterThreads
            let connection = try Connection(path: files.store, mode: .readWrite, hardening: hardening)
            try connection.setPragma("page_size", to: 4_096)
            try connection.setPragma("auto_vacuum", to: 2)
            try connection.setPragma("cache_size", to: -StoreGenerator.cacheSize)
            // A crash leaves a file that isn't a store; the finished one is synced as a whole.
            try connection.setPragma("synchronous", to: "OFF")
            return connection
        }
    }

    private func writeRows(
        on connection: borrowing Connection, _ files: OutputFiles, _ progress: (GenerationProgress) -> Bool
    ) throws(GenerationError) {
        var done = 0
        for table in tables where table.keys.rowCount > 0 {
            var writer = try RowWriter(table, on: connection, files: files)
            for index in 0..<table.keys.rowCount {
                if done % StoreGenerator.rowsPerReport == 0 { try report(.rows, table.name, rows: done, progress) }
                try writer.write(index)
                done += 1
            }
        }
        try report(.rows, tables.last?.name ?? "", rows: done, progress)
    }

    private func writeLinks(
        on connection: borrowing Connection, _ progress: (GenerationProgress) -> Bool
    ) throws(GenerationError) {
        var done = 0
        for table in layout.joinTables {
            guard let link = links.join(table), link.owners.count > 0, link.partners.count > 0 else { continue }
            var writer = try JoinWriter(table, link, on: connection)
            for owner in 0..<link.owners.count {
                if owner % StoreGenerator.rowsPerReport == 0 { try report(.links, table.name, rows: done, progress) }
                done += try writer.write(owner: owner)
            }
        }
    }

    /// Indexes, then derived values, then R-trees with their rows and triggers, in Core Data's order.
    private func finishModel(
        _ statements: SchemaStatements, from start: Int, on connection: borrowing Connection,
        _ progress: (GenerationProgress) -> Bool
    ) throws(GenerationError) {
        var needsDerived = true
        for statement in statements.modelStatements[start...] {
            try report(.indexes, statement.name, rows: options.rows, progress)
            if needsDerived, statement.kind == .trigger || statement.kind == .rTree {
                try computeDerived(on: connection)
                needsDerived = false
            }
            try run(statement.sql, on: connection)
            if let fill = statements.rTreeFills[statement.name] { try run(fill, on: connection) }
        }
        if needsDerived { try computeDerived(on: connection) }
    }

    private func computeDerived(on connection: borrowing Connection) throws(GenerationError) {
        for value in layout.derivedValues {
            for sql in value.statements() { try run(sql, on: connection) }
        }
    }

    private func report(
        _ phase: GenerationProgress.Phase, _ object: String, rows: Int, _ progress: (GenerationProgress) -> Bool
    ) throws(GenerationError) {
        let total = phase == .links ? nil : options.rows
        guard progress(GenerationProgress(phase: phase, object: object, rows: rows, totalRows: total)) else {
            throw Self.stopped
        }
    }

    private static let stopped = GenerationError(.cancelled, "stopped; the partial store is removed")

    private func run(_ sql: String, on connection: borrowing Connection) throws(GenerationError) {
        do throws(SQLiteError) {
            try connection.execute(sql)
        } catch {
            throw error.code == .interrupted ? Self.stopped : GenerationError(.writing, "\(error)")
        }
    }
}
