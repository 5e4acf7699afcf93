import CausewaySQLite

/// Views and triggers.
extension AppObjectCarrier {
    /// Most nested views.
    private static let maximumDepth = 100

    /// The views that it reads come first: each is compiled once and replaced by a stand-in.
    mutating func carryView(_ name: String, depth: Int) throws(StoreFormatError) {
        guard let object = waitingViews.removeValue(forKey: name), isFree(object, destination.objects) else { return }
        let select = "SELECT * FROM \((try? SQLIdentifier(object.name).quoted) ?? "")"
        var use = StatementUse()
        while true {
            let refusal = try attempt(object) { carrier throws(SQLiteError) in
                use = try carrier.compileInSource(object, [select])
            }
            guard let refusal else { break }
            guard let other = refusal.missing("table")?.lowercased(), waitingViews[other] != nil,
                depth < Self.maximumDepth
            else { return lose(object, reason(refusal)) }
            try carryView(other, depth: depth + 1)
        }
        try carry(object) { carrier throws(SQLiteError) in
            try carrier.makeInDestination(object, naming: use.tables.union(use.scopes), [select], [select])
        }
    }

    mutating func carryTrigger(_ object: StoreSchema.Object) throws(StoreFormatError) {
        guard isFree(object, destination.triggers) else { return }
        if let missing = missing[object.table.lowercased()] { return lose(object, "it is on \(missing)") }
        try carry(object) { carrier throws(SQLiteError) in
            let before = try carrier.source.firing(object.table)
            let use = try carrier.compileInSource(object, before)
            let after = try carrier.destination.scratch.firing(carrier.renames.newName(of: object.table))
            return try carrier.makeInDestination(object, naming: use.tables.union(use.scopes), before, after)
        }
    }

    /// Whether the name is unused and the text may be compiled.
    private mutating func isFree(_ object: StoreSchema.Object, _ taken: Set<String>) -> Bool {
        if taken.contains(object.name.lowercased()) {
            lose(object, "the new version has a \(object.kind == .trigger ? "trigger" : "table or index") of that name")
            return false
        }
        if isHostile, object.sql?.mayNeedMemory ?? false {
            lose(object, "it isn't examined: another text of this store needs too much memory")
            return false
        }
        return true
    }

    /// Compiles the object among the source's tables. A view leaves a stand-in, a trigger nothing.
    ///
    /// SQLite reads a word in double quotes that names no column as a text. If the object needs none of these, they are
    /// off in the new schema too: the old name of a renamed column would become a text.
    private mutating func compileInSource(
        _ object: StoreSchema.Object, _ statements: [String]
    ) throws(SQLiteError) -> StatementUse {
        do throws(SQLiteError) {
            quotesTexts = false
            return try compiledInSource(object, statements)
        } catch {
            guard error.code == .error else { throw error }
            quotesTexts = true
            return try compiledInSource(object, statements)
        }
    }

    private mutating func compiledInSource(
        _ object: StoreSchema.Object, _ statements: [String]
    ) throws(SQLiteError) -> StatementUse {
        try source.connection.setDoubleQuotedTexts(quotesTexts)
        defer { try? source.connection.setDoubleQuotedTexts(true) }
        let compiled = try source.compile(statements, of: object)
        if object.kind == .view {
            let view = try StandInView(object.name, columns: compiled.columns)
            standIns[object.name.lowercased()] = view
            try source.run(view.sql)
        }
        var use = compiled.use
        use.scopes.remove(object.name.lowercased())
        return use
    }

    /// Renames what the object names and compiles it among the destination's tables. Returns why it isn't carried.
    private mutating func makeInDestination(
        _ object: StoreSchema.Object, naming used: Set<String>, _ before: [String], _ after: [String]
    ) throws(SQLiteError) -> String? {
        let own = object.kind == .view ? object.name.lowercased() : nil
        let used = used.filter { $0 != own }
        if let reason = firstMissing(used) { return reason }
        let renaming = ObjectRenaming(renames: renames, tables: tableTexts, views: standIns)
        let made: StoreSchema.Object
        switch try renaming.text(of: object, naming: used) {
        case .gone(let what): return "it names what is gone: \(what.joined(separator: ", "))"
        case .text(let text):
            made = object.renamed(to: text, on: object.kind == .view ? object.name : renames.newName(of: object.table))
        }
        try destination.scratch.connection.setDoubleQuotedTexts(quotesTexts)
        defer { try? destination.scratch.connection.setDoubleQuotedTexts(false) }
        let columns = try destination.scratch.compile(after, of: made).columns
        if made.kind == .view { try destination.scratch.run(try StandInView(made.name, columns: columns).sql) }
        keep(made)
        let probe = EntityNumberProbe(renames: renames, schema: schema, views: standIns)
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

    /// Makes an object, compiles statements that reach its text, and drops it again; with the columns of a view.
    fileprivate mutating func compile(
        _ statements: [String], of object: StoreSchema.Object
    ) throws(SQLiteError) -> (use: StatementUse, columns: [String]) {
        _ = try define(object)
        do {
            let use = try use(of: statements, about: object.sql ?? "")
            let columns = object.kind == .view ? try columns(of: object.name) : []
            try drop(object.kind, object.name)
            return (use, columns)
        } catch {
            try drop(object.kind, object.name)
            throw error
        }
    }

    private mutating func use(of statements: [String], about text: String) throws(SQLiteError) -> StatementUse {
        var use = StatementUse()
        var refusals: [SQLiteError] = []
        for sql in statements {
            do {
                use.merge(try compile(sql, about: text))
            } catch {
                // A view with an INSTEAD OF trigger accepts only one of the three statements.
                guard error.message.hasPrefix("cannot modify ") else { throw error }
                refusals.append(error)
            }
        }
        if refusals.count == statements.count, let first = refusals.first { throw first }
        return use
    }
}
