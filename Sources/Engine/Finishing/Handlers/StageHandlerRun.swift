import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
package import CausewayPreparation
import CausewaySQLite
package import CausewayStoreFormat
package import CausewayStores

/// Runs the handlers that belong to one staging store: after its rows and indexes, before its R-trees and triggers, in
/// its transaction.
///
/// A handler gets a context of its own. What it makes and changes is written in bounded batches; new rows get keys that
/// no row ever had; Z_OPT counts every change of a stored row, as Core Data's saves do. When a handler fails, the whole
/// staging store is discarded: its rows are in an unknown state. The next attempt starts with a fresh one.
package struct StageHandlerRun {
    /// Their common version is the store's.
    private let handlers: [StageHandler]
    private let layout: StoreLayout
    private let writer: any StageWriter
    private let storeUUID: String
    private let external: ExternalValues
    private let cancellation: Cancellation

    /// - Parameters:
    ///   - handlers: in the order in which they run.
    ///   - layout: the store's, with the names that it has.
    ///   - writer: the store.
    ///   - storeUUID: for the objects' URIs.
    ///   - externalData: the folder of externally stored values, `.<Name>_SUPPORT/_EXTERNAL_DATA`.
    ///   - cancellation: ends a handler's long statement; a handler may check it.
    package init(
        _ handlers: [StageHandler], layout: StoreLayout, writer: any StageWriter, storeUUID: String,
        externalData: String, cancellation: Cancellation
    ) {
        self.handlers = handlers
        self.layout = layout
        self.writer = writer
        self.storeUUID = storeUUID
        external = ExternalValues(directory: externalData)
        self.cancellation = cancellation
    }

    /// - Parameter event: called with each handler's title before it runs.
    /// - Returns: how many rows there were before and after.
    /// - Throws: `.sourceData` with stage and handler for whatever a handler throws, `.interrupted`, `.inputOutput`.
    package func run(_ event: (String) -> Void = { _ in }) throws(EngineError) -> StageOutcome {
        let before = try counts()
        for handler in handlers {
            try cancellation.check()
            event(handler.title)
            try run(handler)
        }
        return StageOutcome(before: before, after: try counts())
    }

    private func counts() throws(EngineError) -> StoreCounts {
        try EngineError.writing("counting the rows for the handlers") {
            try StoreCounts(layout) { sql throws(SQLiteError) in try writer.prepare(sql) }
        }
    }

    private func run(_ handler: StageHandler) throws(EngineError) {
        let derivation = StageDerivation(layout)
        let prepared = try EngineError.writing(handler.title) {
            let triggers = try derivation.triggers()
            for sql in triggers.create { try writer.run(sql) }
            return (drop: triggers.drop, keys: try lastKeys(), written: try WrittenTables(layout))
        }
        let keys = KeySource(KeySpace(last: prepared.keys))
        try call(handler, keys: keys, written: prepared.written)
        try EngineError.writing(handler.title) {
            for sql in prepared.drop { try writer.run(sql) }
            for sql in derivation.updates(after: prepared.written.tables) { try writer.run(sql) }
            try writeLastKeys(keys.keys)
            try dropTemporaryTables()
            try writer.commitIfDue()
        }
    }

    private func call(_ handler: StageHandler, keys: KeySource, written: WrittenTables) throws(EngineError) {
        do {
            let access = StoreAccess { (sql: String) throws(SQLiteError) -> Statement in
                written.note(sql)
                return try writer.prepare(sql)
            }
            let map = try StorageMap(layout)
            let context = ObjectContext(
                map, side: .destination,
                mode: .writable(keys, StatementPolicyRowOutput(map, access, countsChanges: true)), storeUUID: storeUUID,
                access: access, content: external.content(ofProperty:))
            // Before the temporary tables are dropped: an open statement would hold them.
            defer { context.close() }
            let manager = StagedMigrationManager(
                context: context, versionName: handler.version, commit: { () throws(ObjectError) in try commit() },
                isCancelled: { cancellation.isCancelled })
            try handler.body(manager, handler.stage)
            try manager.save()
            if let failure = manager.failure { throw failure }
        } catch {
            // An interrupted statement isn't the handler's failure.
            try cancellation.check()
            throw failure(error, in: handler)
        }
        try cancellation.check()
        // Even if the handler ignored the error.
        guard writer.isInTransaction else { throw rolledBack(handler) }
    }

    private func commit() throws(ObjectError) {
        do throws(SQLiteError) {
            try writer.commitIfDue()
        } catch {
            throw ObjectError(.store, "saving: \(error.message)", cause: error)
        }
    }

    private func failure(_ error: any Error, in handler: StageHandler) -> EngineError {
        if let cause = (error as? ObjectError)?.cause, cause.isOfSystem {
            return EngineError(writing: cause, during: handler.title)
        }
        guard writer.isInTransaction else { return rolledBack(handler, because: error) }
        return EngineError(
            .sourceData, "\(handler.title): \(error)",
            remedy: "fix the handler or the rows that it names, then run again")
    }

    /// SQLite rolls everything back by itself if the disk is full or fails, but never because of a handler.
    private func rolledBack(_ handler: StageHandler, because error: (any Error)? = nil) -> EngineError {
        EngineError(
            .inputOutput, "\(handler.title): the new store couldn't be written\(error.map { ": \($0)" } ?? "")",
            remedy: "make room, then run again")
    }
}

// MARK: - Keys and what is left behind

extension StageHandlerRun {
    /// The largest key that each entity table has used: Z_MAX, or the largest Z_PK if that is larger.
    private func lastKeys() throws(SQLiteError) -> [Int64] {
        var keys: [Int64] = []
        for table in layout.tables {
            var largest = try writer.prepare("SELECT max(Z_PK) FROM \(try SQLIdentifier(table.name))")
            var key: Int64 = try largest.step() ? max(0, largest.int64(at: 0)) : 0
            var given = try writer.prepare("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
            try given.bind(Int64(layout.entityNumbers[table.rootEntity] ?? 0), at: 1)
            if try given.step() { key = max(key, given.int64(at: 0)) }
            keys.append(key)
        }
        return keys
    }

    private func writeLastKeys(_ keys: KeySpace) throws(SQLiteError) {
        for (index, table) in layout.tables.enumerated() {
            var update = try writer.prepare("UPDATE Z_PRIMARYKEY SET Z_MAX = ?1 WHERE Z_ENT = ?2 AND Z_MAX < ?1")
            try update.bind(keys.maximum(in: index), at: 1)
            try update.bind(Int64(layout.entityNumbers[table.rootEntity] ?? 0), at: 2)
            try update.run()
        }
    }

    /// The tables of sorted fetches: the next handler's context counts its own from 0 again.
    private func dropTemporaryTables() throws(SQLiteError) {
        var names: [SQLIdentifier] = []
        do {
            var list = try writer.prepare(
                "SELECT name FROM sqlite_temp_schema WHERE type = 'table' AND name GLOB 'causeway_fetch_*'")
            while try list.step() {
                if let name = try list.string(at: 0) { names.append(try SQLIdentifier(name)) }
            }
        }
        for name in names { try writer.run("DROP TABLE temp.\(name)") }
    }
}
