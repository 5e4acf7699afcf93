import CausewaySQLite

/// The app's own views, while they are carried.
struct ViewSet {
    enum State {
        case waiting
        /// It is being carried: a view that meets it again reads itself.
        case begun
        case done
    }

    private(set) var objects: [String: StoreSchema.Object] = [:]
    var states: [String: State] = [:]
    /// In the source's schema, by lower-cased name.
    var standIns: [String: StandInView] = [:]

    mutating func add(_ object: StoreSchema.Object) {
        objects[object.name.lowercased()] = object
        states[object.name.lowercased()] = .waiting
    }

    func isWaiting(_ name: String) -> Bool { states[name] == .waiting }
}

/// Views and triggers.
extension AppObjectCarrier {
    /// Most nested views.
    private static let maximumDepth = 100

    /// The views that it reads come first: each is compiled once and replaced by a stand-in.
    mutating func carryView(_ name: String, depth: Int) throws(StoreFormatError) {
        guard views.isWaiting(name), let object = views.objects[name] else { return }
        views.states[name] = .begun
        defer { views.states[name] = .done }
        guard isFree(object, destination.objects) else { return }
        let select = "SELECT * FROM \(quoted(object.name))"
        var use = StatementUse()
        while true {
            let refusal = try attempt(object) { carrier throws(SQLiteError) in
                use = try carrier.compileInSource(object, [select], keepsAsView: true)
            }
            guard let refusal else { break }
            if let other = refusal.missing("table")?.lowercased(), views.isWaiting(other), depth < Self.maximumDepth {
                try carryView(other, depth: depth + 1)
                continue
            }
            lose(object, reason(refusal))
            return
        }
        var loss: String?
        let refusal = try attempt(object) { carrier throws(SQLiteError) in
            loss = try carrier.makeInDestination(object, naming: use.tables.union(use.scopes), [select], [select])
        }
        settle(object, refusal, loss)
    }

    mutating func carryTrigger(_ object: StoreSchema.Object) throws(StoreFormatError) {
        guard isFree(object, destination.triggers) else { return }
        if let missing = missing[object.table.lowercased()] {
            lose(object, "it is on \(missing)")
            return
        }
        var loss: String?
        let refusal = try attempt(object) { carrier throws(SQLiteError) in
            let before = try carrier.source.firing(object.table)
            let use = try carrier.compileInSource(object, before, keepsAsView: false)
            let after = try carrier.destination.scratch.firing(carrier.renames.newName(of: object.table))
            loss = try carrier.makeInDestination(object, naming: use.tables.union(use.scopes), before, after)
        }
        settle(object, refusal, loss)
    }

    /// Whether the name is unused and the text may be compiled.
    private mutating func isFree(_ object: StoreSchema.Object, _ taken: Set<String>) -> Bool {
        if taken.contains(object.name.lowercased()) {
            lose(object, "the new version has a \(object.kind == .trigger ? "trigger" : "table or index") of that name")
            return false
        }
        if isHostile, object.sql?.lowercased().hasPart("with") ?? false {
            lose(object, "it isn't examined: another text of this store needs too much memory")
            return false
        }
        return true
    }

    private func quoted(_ name: String) -> String { (try? SQLIdentifier(name).quoted) ?? "" }

    /// Compiles the object among the source's tables. A view leaves a stand-in, a trigger nothing.
    ///
    /// SQLite reads a word in double quotes that names no column as a text. If the object needs none of these, they are
    /// off in the new schema too: the old name of a renamed column would become a text.
    private mutating func compileInSource(
        _ object: StoreSchema.Object, _ statements: [String], keepsAsView: Bool
    ) throws(SQLiteError) -> StatementUse {
        do throws(SQLiteError) {
            quotesTexts = false
            return try compiledInSource(object, statements, keepsAsView: keepsAsView)
        } catch {
            guard error.code == .error else { throw error }
            quotesTexts = true
            return try compiledInSource(object, statements, keepsAsView: keepsAsView)
        }
    }

    private mutating func compiledInSource(
        _ object: StoreSchema.Object, _ statements: [String], keepsAsView: Bool
    ) throws(SQLiteError) -> StatementUse {
        try source.setDoubleQuotedTexts(quotesTexts)
        defer { try? source.setDoubleQuotedTexts(true) }
        _ = try source.define(object)
        var use = StatementUse()
        var columns: [String] = []
        do {
            try source.compile(statements, of: object, &use)
            if keepsAsView { columns = try source.columns(of: object.name) }
        } catch {
            try source.drop(object.kind, object.name)
            throw error
        }
        try source.drop(object.kind, object.name)
        if keepsAsView {
            let view = try StandInView(object.name, columns: columns)
            views.standIns[object.name.lowercased()] = view
            try source.run(view.sql)
        }
        use.scopes.remove(object.name.lowercased())
        return use
    }

    /// Renames what the object names and compiles it among the destination's tables.
    ///
    /// - Returns: why it isn't carried.
    private mutating func makeInDestination(
        _ object: StoreSchema.Object, naming used: Set<String>, _ before: [String], _ after: [String]
    ) throws(SQLiteError) -> String? {
        let own = object.kind == .view ? object.name.lowercased() : nil
        let used = used.filter { $0 != own }
        if let reason = firstMissing(used) { return reason }
        let renaming = ObjectRenaming(renames: renames, tables: tableTexts, views: views.standIns)
        let made: StoreSchema.Object
        switch try renaming.text(of: object, naming: used) {
        case .gone(let what): return "it names what is gone: \(what.joined(separator: ", "))"
        case .text(let text):
            made = object.renamed(to: text, on: object.kind == .view ? object.name : renames.newName(of: object.table))
        }
        try destination.scratch.setDoubleQuotedTexts(quotesTexts)
        defer { try? destination.scratch.setDoubleQuotedTexts(false) }
        _ = try destination.scratch.define(made)
        var use = StatementUse()
        var columns: [String] = []
        do {
            try destination.scratch.compile(after, of: made, &use)
            if made.kind == .view { columns = try destination.scratch.columns(of: made.name) }
        } catch {
            try destination.scratch.drop(made.kind, made.name)
            throw error
        }
        try destination.scratch.drop(made.kind, made.name)
        if made.kind == .view { try destination.scratch.run(try StandInView(made.name, columns: columns).sql) }
        keep(made)
        let probe = EntityNumberProbe(renames: renames, schema: schema, views: views.standIns)
        if try probe.compares(object, naming: used, firing: before) { warnOfNumbers(made) }
        return nil
    }
}

extension ScratchSchema {
    /// Statements that fire every trigger of a table or view.
    fileprivate func firing(_ table: String) throws(SQLiteError) -> [String] {
        let name = try SQLIdentifier(table).quoted
        let columns = try columns(of: table).map { (column: String) throws(SQLiteError) in
            let column = try SQLIdentifier(column).quoted
            return "\(column) = \(column)"
        }
        return [
            "INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(columns.joined(separator: ", "))",
            "DELETE FROM \(name)",
        ]
    }

    /// Compiles statements that reach the object's text.
    fileprivate mutating func compile(
        _ statements: [String], of object: StoreSchema.Object, _ use: inout StatementUse
    ) throws(SQLiteError) {
        var refusals: [SQLiteError] = []
        for sql in statements {
            do {
                use.merge(try compile(sql, about: object.sql ?? ""))
            } catch {
                // A view with an INSTEAD OF trigger accepts only one of the three statements.
                guard error.message.hasPrefix("cannot modify ") else { throw error }
                refusals.append(error)
            }
        }
        if refusals.count == statements.count, let first = refusals.first { throw first }
    }
}
