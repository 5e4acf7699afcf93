import CausewayModel
package import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
package import CausewayStores

/// The model that tells what a store's tables mean.
public enum ModelOrigin: String, Hashable, Codable, Sendable {
    /// A version of the given models has the store's hashes.
    case models
    /// The model in the store's own cache.
    case storeCache
    /// Neither: what only a model can tell is missing.
    case unknown
}

/// Everything that can be found wrong with a store by reading it: what a damaged disk, a crash of another program or an
/// app's own SQL leaves behind.
///
/// Not a byte of the store changes. SQLite keeps no checksums, so a value that was changed into another valid value
/// can't be found this way.
package struct StoreExamination {
    package let store: SourceStore
    /// The versions to compare the store with; nil uses its own cache alone.
    package let history: ModelHistory?
    /// Leaves out the comparison of indexes with rows.
    package let isQuick: Bool
    package let cancellation: Cancellation
    /// Told what is examined, in order, on the thread that runs.
    let progress: (ExaminationProgress) -> Void

    package init(
        _ store: SourceStore, history: ModelHistory?, isQuick: Bool, cancellation: Cancellation = Cancellation(),
        progress: @escaping (ExaminationProgress) -> Void = { _ in }
    ) {
        self.progress = progress
        self.store = store
        self.history = history
        self.isQuick = isQuick
        self.cancellation = cancellation
    }

    /// What an examination has found.
    package struct Report: Hashable, Sendable {
        /// Versions of the given models that have the store's hashes.
        package var versions: [String] = []
        package var origin = ModelOrigin.unknown
        /// Rows of all entity tables.
        package var rows = 0
        /// Whether every index was compared with its table's rows.
        package var comparedIndexes = false
        package var findings: [StoreFinding] = []
        /// Findings that aren't the store's fault.
        package var notes: [StoreFinding] = []
    }

    /// Runs all checks.
    ///
    /// - Returns: the findings, in the order of this type's checks and of the model.
    /// - Throws: `.interrupted` and `.terminated`, `.busy`, `.inputOutput`; damage is a finding, not an error.
    package func run() throws(EngineError) -> Report {
        try cancellation.interrupting(store.connection.interruptHandle, examine)
    }

    private func examine() throws(EngineError) -> Report {
        var report = Report()
        if let found = store.walBreak {
            report.findings.append(StoreFinding(.walBreak, found.sentence(store.location.wal)))
        }
        progress(ExaminationProgress("the database's structure", nil))
        try attempt("the database's structure", &report) { report throws in
            let comparesIndexes = try comparesIndexes(&report)
            let found = try StructureCheck.sorted(
                store.connection, withIndexes: comparesIndexes, tables: store.schema.tables.values.map(\.name).sorted())
            report.findings += found.damage.map { StoreFinding(.structure, "SQLite: \($0)") }
            report.findings += found.space.map { StoreFinding(.space, "SQLite: \($0)") }
            if !found.damage.isEmpty, store.isSoundWithoutLog {
                report.findings.append(
                    StoreFinding(
                        .structure,
                        "\(store.location.wal): doesn't belong to this store: without it the store by itself is sound"))
            }
            report.comparedIndexes = comparesIndexes
        }
        guard let model = try identify(&report) else {
            report.notes.append(
                StoreFinding(
                    .notChecked,
                    "the rows weren't examined: there is no model of the store's version; give it with --models"))
            return report
        }
        try attempt("the tables", &report) { report throws in
            let binding = try StoreBinding(
                store.schema, model: model, frameworkVersion: store.metadata.frameworkVersion)
            report.findings += binding.problems.map { StoreFinding(.schema, $0.description) }
            try RowExamination(examination: self, layout: binding.layout).run(&report)
        }
        return report
    }

    /// Whether indexes are compared with their rows: an index of the app's own may compute without bound for each.
    private func comparesIndexes(_ report: inout Report) throws(EngineError) -> Bool {
        guard !isQuick else { return false }
        func note(_ reason: String, _ report: inout Report) {
            report.notes.append(StoreFinding(.notChecked, "the indexes aren't compared with the rows: \(reason)"))
        }
        do throws(SQLiteError) {
            let function = try boundless("PRAGMA integrity_check")
            // The statement above has requested all collations that the indexes need.
            let lent = try store.connection.lentCollations()
            if let (index, collation) = try indexOrdered(by: lent) {
                note("\(index) is ordered by \(collation), which only the app has", &report)
                return false
            }
            guard function != nil else { return true }
            for object in store.schema.objects where object.kind == .table && !object.isVirtualTable {
                let check = "PRAGMA integrity_check(\(try SQLIdentifier(object.name)))"
                guard let function = try boundless(check) else { continue }
                note("\(object.name) computes “\(function)” for every row", &report)
            }
        } catch {
            note(error.message, &report)
        }
        return false
    }

    /// The first index that is ordered by one of these collating sequences.
    private func indexOrdered(by names: Set<String>) throws(SQLiteError) -> (index: String, collation: String)? {
        guard !names.isEmpty else { return nil }
        // Automatic indexes have no text, only names: every index of every table is checked.
        for object in store.schema.objects where object.kind == .table && !object.isVirtualTable {
            // seq, name, unique, origin, partial
            var list = try store.connection.prepare("PRAGMA index_list(\(try SQLIdentifier(object.name)))")
            while try list.step() {
                guard let index = try list.string(at: 1) else { continue }
                // seqno, cid, name, desc, coll, key
                var info = try store.connection.prepare("PRAGMA index_xinfo(\(try SQLIdentifier(index)))")
                while try info.step() {
                    guard let collation = try info.string(at: 4), names.contains(collation.lowercased()) else {
                        continue
                    }
                    return (index, collation)
                }
            }
        }
        return nil
    }

    private func boundless(_ check: String) throws(SQLiteError) -> String? {
        var functions = try store.connection.compiledFunctions(of: check)
        // The pragma concatenates its own messages.
        functions.concatenations = 0
        return functions.boundless
    }

    /// Runs one check. If it fails, the failure becomes a finding if the store is damaged, or a note if this SQLite
    /// lacks something; other errors end the examination.
    package func attempt(
        _ what: String, _ report: inout Report, _ question: (inout Report) throws -> Void
    ) throws(EngineError) {
        do {
            try cancellation.check()
            try question(&report)
        } catch let error as SQLiteError {
            switch error.code {
            case .corrupt, .notADatabase, .mismatch:
                report.findings.append(StoreFinding(.structure, "\(what) can't be read: \(error.message)"))
            case .error:
                report.notes.append(StoreFinding(.notChecked, "\(what): not checked: \(error.message)"))
            case .interrupted:
                try cancellation.check()
                throw EngineError(error, during: store.location.path)
            default: throw EngineError(error, during: store.location.path)
            }
        } catch let error as StoreFormatError {
            report.findings.append(StoreFinding(.schema, "\(error)"))
        } catch {
            throw EngineError(error, during: store.location.path)
        }
    }

    // MARK: - Identity

    /// The model to read the rows with; nil where neither the models nor the store's own cache know it.
    private func identify(_ report: inout Report) throws(EngineError) -> ManagedObjectModel? {
        let metadata = store.metadata
        if let digest = metadata.hashesDigest, digest != VersionHashes.digest(of: metadata.entityHashes) {
            report.findings.append(
                StoreFinding(.metadata, "Z_METADATA: the digest isn't that of the entities' version hashes"))
        }
        if let checksum = metadata.checksum, checksum != VersionHashes.checksum(of: metadata.entityHashes) {
            report.findings.append(
                StoreFinding(.metadata, "Z_METADATA: the checksum isn't that of the entities' version hashes"))
        }
        let matching = (history?.versions ?? []).filter { $0.hashes.entities == metadata.entityHashes }
        report.versions = matching.map(\.name)
        let cached = try cachedModel(&report)
        let chosen = matching.first { $0.model.versionIdentifiers == metadata.versionIdentifiers } ?? matching.last
        if let chosen {
            report.origin = .models
            return chosen.model
        }
        if let history {
            report.findings.append(
                StoreFinding(
                    .version, "none of the \(history.versions.count) versions in \(history.path) is the store's"))
        }
        if cached != nil { report.origin = .storeCache }
        return cached
    }

    /// Says what is wrong with the cache; a store without one, as old Core Data leaves it, has nothing wrong.
    private func cachedModel(_ report: inout Report) throws(EngineError) -> ManagedObjectModel? {
        guard let cache = store.schema.table("Z_MODELCACHE") else { return nil }
        guard cache.position(of: "Z_CONTENT") != nil else {
            report.findings.append(StoreFinding(.modelCache, "Z_MODELCACHE: it has no column Z_CONTENT"))
            return nil
        }
        var found: ManagedObjectModel?
        try attempt("Z_MODELCACHE", &report) { report throws in
            var statement = try store.connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            let content = try statement.step() ? statement.bytes(at: 0) : nil
            do {
                let model = try ModelReader.model(cache: content)
                let different = VersionHashes(model).differences(from: store.metadata.entityHashes)
                if different.isEmpty {
                    found = model
                } else {
                    report.findings.append(
                        StoreFinding(
                            .modelCache,
                            """
                            Z_MODELCACHE: its model isn't the one in Z_METADATA; they differ in \
                            \(different.joined(separator: ", "))
                            """))
                }
            } catch {
                report.findings.append(StoreFinding(.modelCache, "Z_MODELCACHE: \(error)"))
            }
        }
        return found
    }
}
