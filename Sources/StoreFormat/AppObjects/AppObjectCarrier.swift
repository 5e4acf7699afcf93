import CausewaySQLite

/// Carries an app's own tables, indexes, views and triggers into the new store.
///
/// SQLite itself renames the names in their texts, and compiles the result against the new schema; an object that it
/// refuses is lost, with the reason. Texts come from an untrusted store: they are compiled, never run.
package struct AppObjectCarrier: ~Copyable {
    /// An object that isn't carried.
    package struct Lost: Hashable, Sendable {
        package let object: StoreSchema.Object
        package let reason: String

        /// `rows`: the row count of a table that can be counted.
        package func sentence(rows: Int?) -> String {
            let count = rows.map { " (\($0) \($0 == 1 ? "row" : "rows"))" } ?? ""
            return "\(object.kind.rawValue) \(object.name) of the app's own\(count) is not carried: \(reason)"
        }
    }

    /// In the order of their creation.
    package private(set) var carried: [StoreSchema.Object] = []
    package private(set) var lost: [Lost] = []
    package private(set) var warnings: [String] = []

    let schema: StoreSchema
    let renames: SchemaRenames
    package internal(set) var destination: DestinationSchema
    /// The source's schema: its own tables and indexes, and a stand-in for each view that was carried.
    var source: ScratchSchema
    /// Texts of the source's tables, by lower-cased name.
    let tableTexts: [String: StoreSchema.Object]
    /// Views that aren't carried yet, and the stand-ins of those that are in the source's schema, by lower-cased name.
    var waitingViews: [String: StoreSchema.Object] = [:]
    var standIns: [String: StandInView] = [:]
    /// Lower-cased names of lost objects, with a description.
    var missing: [String: String]
    /// Unbounded functions that an index of the source calls for every row, by its lower-cased name. Even without rows
    /// SQLite computes their constant parts.
    var boundless: [String: String] = [:]
    /// Once a text has needed too much memory, other such texts aren't compiled.
    var isHostile = false
    /// The current object has texts in double quotes.
    var quotesTexts = true

    /// `schema` is the source's; carried objects are added to the destination's.
    package init(
        _ schema: StoreSchema, renames: SchemaRenames, into destination: consuming DestinationSchema
    ) throws(StoreFormatError) {
        let source = try ScratchSchema.empty(readsDoubleQuotedTexts: true)
        var texts: [String: StoreSchema.Object] = [:]
        var missing: [String: String] = [:]
        for object in schema.objects where object.kind == .table {
            if object.isVirtualTable {
                missing[object.name.lowercased()] = "the virtual table \(object.name)"
            } else if !object.name.lowercased().hasPrefix("sqlite_") {
                texts[object.name.lowercased()] = object
            }
        }
        for name in renames.gone { missing[name] = "the table \(texts[name]?.name ?? name), which is gone" }
        self.schema = schema
        self.renames = renames
        tableTexts = texts
        self.missing = missing
        self.source = source
        self.destination = destination
    }

    /// Carries all objects of the app's own, tables first.
    package mutating func carry(_ objects: [StoreSchema.Object]) throws(StoreFormatError) {
        let virtual = Set(objects.filter(\.isVirtualTable).map { $0.name.lowercased() })
        for object in objects where object.kind == .table {
            guard !SchemaOrigins.isShadow(object.name, of: virtual) else {
                missing[object.name.lowercased()] = "the table \(object.name) of a virtual table, which isn't carried"
                continue
            }
            try carryTable(object)
        }
        let others = objects.filter { $0.kind != .table && $0.sql != nil }
        guard !others.isEmpty else { return }
        try makeSource()
        for object in others where object.kind == .index { try carryIndex(object) }
        for object in others where object.kind == .view { waitingViews[object.name.lowercased()] = object }
        for object in others where object.kind == .view { try carryView(object.name.lowercased(), depth: 0) }
        for object in others where object.kind == .trigger { try carryTrigger(object) }
    }

    mutating func keep(_ object: StoreSchema.Object) { carried.append(object) }

    mutating func lose(_ object: StoreSchema.Object, _ reason: String) {
        lost.append(Lost(object: object, reason: reason))
        if object.kind == .table || object.kind == .view {
            missing[object.name.lowercased()] = "the \(object.kind.rawValue) \(object.name), which isn't carried"
        }
    }

    /// Records the object as lost if SQLite refuses it or `body` gives a reason. Throws as `attempt` does.
    mutating func carry(
        _ object: StoreSchema.Object, _ body: (inout AppObjectCarrier) throws(SQLiteError) -> String?
    ) throws(StoreFormatError) {
        var loss: String?
        let refusal = try attempt(object) { carrier throws(SQLiteError) in loss = try body(&carrier) }
        if let refusal { loss = reason(refusal) }
        if let loss { lose(object, loss) }
    }

    mutating func warn(_ sentence: String) { warnings.append(sentence) }

    /// Every table and index of the source. An object that names something SQLite refuses to make here is refused.
    private mutating func makeSource() throws(StoreFormatError) {
        for object in schema.objects where object.kind == .table && !object.isVirtualTable {
            guard tableTexts[object.name.lowercased()] != nil else { continue }
            try attempt(object) { carrier throws(SQLiteError) in _ = try carrier.source.define(object) }
        }
        for object in schema.objects where object.kind == .index && object.sql != nil {
            try attempt(object) { carrier throws(SQLiteError) in
                if let function = try carrier.source.connection.compiledFunctions(of: object.sql ?? "").boundless {
                    carrier.boundless[object.name.lowercased()] = function
                } else {
                    _ = try carrier.source.define(object)
                }
            }
        }
    }

    /// Returns why SQLite refuses. Throws `unsupportedSchema` where the text isn't one that SQLite writes.
    @discardableResult
    mutating func attempt(
        _ object: StoreSchema.Object, _ body: (inout AppObjectCarrier) throws(SQLiteError) -> Void
    ) throws(StoreFormatError) -> SQLiteError? {
        do throws(SQLiteError) {
            try body(&self)
            return nil
        } catch {
            switch error.code {
            case .misuse:
                throw StoreFormatError(
                    .unsupportedSchema,
                    "the schema's entry for the \(object.kind.rawValue) holds something else than the one statement that "
                        + "makes it, which SQLite never writes: the file was made by hand", place: object.name)
            // Only such a text is compiled with a memory limit; if another fails, the machine has no memory left.
            case .outOfMemory where object.sql?.mayNeedMemory ?? false: isHostile = true
            default:
                guard !error.isOfSystem else {
                    throw StoreFormatError(error, doing: "reading the app's objects", place: object.name)
                }
            }
            return error
        }
    }

    /// SQLite's reason in plain words.
    func reason(_ error: SQLiteError) -> String {
        if error.code == .outOfMemory { return "it is too large to examine" }
        if let name = error.missing("table") {
            return "it names " + (missing[name.lowercased()] ?? "the table \(name), which isn't there")
        }
        switch error.missingStandIn {
        case .function(let name): return "it calls the function \(name), which only the app has"
        case .collation(let name): return "it is ordered by \(name), a collating sequence that only the app has"
        case nil: break
        }
        return "SQLite refuses it: \(error.message)"
    }

    /// The first of the names that belongs to a lost object.
    func firstMissing(_ names: Set<String>) -> String? {
        names.sorted().compactMap { missing[$0] }.first.map { "it names \($0)" }
    }
}
