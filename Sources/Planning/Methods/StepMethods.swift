package import CausewayStoreFormat

/// How a table or an index is made, and why not by a cheaper method.
package struct MethodChoice<Method: Hashable & Sendable>: Hashable, Sendable {
    package var method: Method
    package var reason: String?
}

/// How the tables and indexes of a step are made, by name; by statements where it says nothing.
package struct StepMethods: Hashable, Sendable {
    /// What the new store is before the first row is in it.
    package enum Beginning: Hashable, Sendable {
        /// A new database.
        case empty
        /// A copy of the source, in which only trees that are kept or patched have rows.
        case copy
    }

    package var beginning = Beginning.empty
    /// Tables with passes.
    package var tables: [String: MethodChoice<TableWork.Method>] = [:]
    /// Indexes of tables that pages make.
    package var indexes: [String: MethodChoice<IndexWork.Method>] = [:]
    /// Tables that are kept or patched.
    package var kept: [String: KeptTable] = [:]
    /// Indexes that are kept or patched.
    package var keptIndexes: [String: KeptIndex] = [:]
    /// The source's indexes whose entries those of rebuilt tables get.
    package var carriedIndexes: [String: CarriedEntries] = [:]
    /// How the rows of entity mappings are written, by their place in the step.
    package var mappings: [Int: MethodChoice<MappingMethod>] = [:]
    /// Tables and indexes where nothing of the source's pages is kept.
    private var tablesAnew: [String: MethodChoice<TableWork.Method>] = [:]
    private var indexesAnew: [String: MethodChoice<IndexWork.Method>] = [:]

    package init() {}

    /// What pages make or keep, each with its method: work that was begun with others isn't resumed.
    package var identity: [String] {
        let tables = tables.filter { $0.value.method != .statements }.map { "\($0.value.method.rawValue) \($0.key)" }
        let indexes = indexes.filter { $0.value.method != .statements }.map { "\($0.value.method.rawValue) \($0.key)" }
        return tables.sorted() + indexes.sorted() + mappingsByPages.map { "mapping \($0)" }
    }

    /// The places of entity mappings whose rows become pages, in their order.
    package var mappingsByPages: [Int] { mappings.filter { $0.value.method == .pages }.keys.sorted() }

    /// For a step with mapping models.
    ///
    /// - Parameters:
    ///   - objects: what they do.
    ///   - indexes: of the store to make.
    ///   - derivedValues: that are computed once the rows are there.
    ///   - obstacle: why pages of the store can't be read or written.
    package init(
        of objects: ObjectStep, _ indexes: [TableIndex], derivedValues: [DerivedValue], obstacle: String?
    ) {
        let constrained = Set(indexes.filter { $0.origin == .constraint }.map { $0.table.lowercased() })
        let choosing = MappingMethods(objects: objects, obstacle: obstacle, constrained: constrained)
        mappings = choosing.choices()
        self.indexes = choosing.indexes(
            indexes, mappings, IndexSorting(derivedValues: derivedValues))
    }

    /// Whether the index has its entries before statements make indexes.
    package func makes(index name: String) -> Bool {
        switch indexes[name]?.method {
        case .keep, .patch, .carry, .sort: true
        case .statements, nil: false
        }
    }

    /// The same where nothing of the source's pages is kept, and statements write what mappings make.
    package var anew: StepMethods {
        var methods = self
        // Rows that statements write are there when their indexes are made.
        if !mappingsByPages.isEmpty { methods.indexes = [:] }
        for mapping in mappingsByPages {
            methods.mappings[mapping] = MethodChoice(method: .statements, reason: "its rows don't come in their order")
        }
        guard beginning == .copy else { return methods }
        methods = StepMethods()
        (methods.tables, methods.indexes, methods.carriedIndexes) = (tablesAnew, indexesAnew, carriedIndexes)
        return methods
    }

    /// Begins with a copy of the source.
    ///
    /// - Parameter made: names of the other indexes of tables that stay: SQLite makes them, as it finds the rows there.
    mutating func copy(besides made: [String]) {
        beginning = .copy
        (tablesAnew, indexesAnew) = (tables, indexes)
        for index in made { indexes[index] = MethodChoice(method: .statements, reason: "its table stays as it is") }
        let numbers = "entities get other numbers"
        for (table, work) in kept {
            tables[table] =
                work.isPatched ? MethodChoice(method: .patch, reason: numbers) : MethodChoice(method: .keep)
        }
        for (index, work) in keptIndexes {
            indexes[index] =
                work.isPatched ? MethodChoice(method: .patch, reason: numbers) : MethodChoice(method: .keep)
        }
    }
}

/// Chooses the cheapest method for each table of a step whose rows passes move, and for its indexes.
package struct MethodChooser {
    private let before: RecordColumns
    private let after: RecordColumns
    private let source: StepSource
    private let sourceIndexes: SourceIndexes
    /// Of the step, by name.
    private let indexTexts: [String: String]
    private let step: StepPlan
    /// Why no table of the store can be read as pages; nil where they can.
    private let obstacle: String?
    /// Whether the store's file has a schema format below 4.
    private let isOldFormat: Bool
    /// Whether so much of the source stays as it is that the new store begins as its copy: asked with the tables and
    /// indexes of the source that stay.
    private let isWorthCopying: (_ kept: Set<String>) -> Bool

    /// - Parameters:
    ///   - from: the store that the step reads.
    ///   - step: planned, but for its methods.
    ///   - obstacle: why pages of the store can't be read.
    ///   - isOldFormat: whether the store's file has a schema format below 4.
    ///   - isWorthCopying: whether the new store begins as a copy, if these tables and indexes of the source stay.
    package init(
        from: StepSource, step: StepPlan, obstacle: String?, isOldFormat: Bool,
        isWorthCopying: @escaping (_ kept: Set<String>) -> Bool
    ) {
        source = from
        sourceIndexes = SourceIndexes(from)
        indexTexts = step.indexTexts
        before = RecordColumns(layout: from.layout, schema: from.schema)
        after = RecordColumns(layout: step.layout, schema: step.resultingSchema(after: from.schema))
        self.step = step
        self.obstacle = obstacle
        self.isOldFormat = isOldFormat
        self.isWorthCopying = isWorthCopying
    }

    /// The choice for every table that a pass of the step fills, and for its indexes.
    package func methods() -> StepMethods {
        var result = madeAnew()
        guard obstacle == nil, let schema = source.schema else { return result }
        let kept = keeping(&result)
        // SQLite doesn't let go of the table of AUTOINCREMENT's keys.
        let hasSequences = schema.objects.contains { $0.name == "sqlite_sequence" }
        guard !kept.isEmpty, !hasSequences, isWorthCopying(kept) else {
            let reason =
                hasSequences
                ? "a table has AUTOINCREMENT: a copy would keep its keys" : "most of the store is made anew"
            for (table, choice) in result.tables where choice.method == .rebuild && result.kept[table] != nil {
                result.tables[table]?.reason = reason
            }
            (result.kept, result.keptIndexes) = ([:], [:])
            return result
        }
        let stay = Set(result.kept.keys.map { $0.lowercased() })
        let others = step.indexes.filter { stay.contains($0.table.lowercased()) && result.keptIndexes[$0.name] == nil }
        result.copy(besides: others.map(\.name))
        return result
    }

    // MARK: - Made anew

    /// Without anything of the source's pages kept.
    private func madeAnew() -> StepMethods {
        var result = StepMethods()
        let rebuilding = TableRebuilding(before: before, after: after)
        let sorting = IndexSorting(derivedValues: step.derivedValues)
        let carrying = IndexCarrying(of: sourceIndexes, isOldFormat: isOldFormat)
        let indexes = Dictionary(grouping: step.indexes) { $0.table.lowercased() }
        for (table, passes) in Dictionary(grouping: step.passes, by: \.destinationTable) {
            let indexes = indexes[table.lowercased()] ?? []
            let reasons = indexes.map { sorting.reason(against: $0) }
            // SQLite makes it with the table, and expects it to have every row.
            let isConstrained = zip(indexes, reasons).contains { $0.origin == .constraint && $1 != nil }
            let reason =
                obstacle ?? rebuilding.reason(against: passes)
                ?? (isConstrained ? "a constraint of it has an index that only SQLite can make" : nil)
            result.tables[table] = MethodChoice(method: reason == nil ? .rebuild : .statements, reason: reason)
            for (index, own) in zip(indexes, reasons) where index.origin != .constraint || reason == nil {
                if let reason = reason == nil ? own : "its table is filled by statements" {
                    result.indexes[index.name] = MethodChoice(method: .statements, reason: reason)
                } else if let pass = passes.first {
                    let found = carrying.counterpart(of: index, filledBy: pass)
                    result.carriedIndexes[index.name] = found.index
                    result.indexes[index.name] = MethodChoice(
                        method: found.index == nil ? .sort : .carry, reason: found.reason ?? "its table is rebuilt")
                }
            }
        }
        return result
    }

    // MARK: - Kept

    /// Notes what could stay, and why tables that are made anew can't.
    ///
    /// - Returns: names of the source's tables and indexes that stay.
    private func keeping(_ result: inout StepMethods) -> Set<String> {
        var names: Set<String> = []
        let tables = KeptTables(of: source, appends: step.appendsColumns)
        let indexes = Dictionary(grouping: step.indexes) { $0.table.lowercased() }
        let sources = Dictionary(grouping: step.passes, by: \.sourceTable)
        for (table, passes) in Dictionary(grouping: step.passes, by: \.destinationTable) {
            guard let pass = passes.first, passes.count == 1, sources[pass.sourceTable]?.count == 1 else {
                if result.tables[table]?.reason == nil { result.tables[table]?.reason = "its rows move between tables" }
                continue
            }
            do throws(KeptTable.Refusal) {
                let kept = try self.kept(pass, tables)
                let own = try self.indexes(indexes[table.lowercased()] ?? [], of: pass, kept)
                result.kept[table] = kept
                result.keptIndexes.merge(own) { first, _ in first }
                names.insert(pass.sourceTable)
                names.formUnion(own.values.map(\.source))
            } catch {
                if result.tables[table]?.method == .rebuild { result.tables[table]?.reason = error.reason }
            }
        }
        return names
    }

    /// The indexes that stay with a table, by their new names.
    private func indexes(
        _ indexes: [TableIndex], of pass: RowPass, _ kept: KeptTable
    ) throws(KeptTable.Refusal) -> [String: KeptIndex] {
        let matching = KeptIndexes(
            source: sourceIndexes, table: pass.sourceTable,
            columns: before.columns(of: pass.sourceTable)?.map(\.name) ?? [], kept: kept,
            derived: step.derivedValues.filter { $0.table == pass.destinationTable }.map(\.column))
        var result: [String: KeptIndex] = [:]
        // Those that keep their names first.
        for isNamed in [true, false] {
            for index in indexes where sourceIndexes.names.contains(index.name) == isNamed {
                result[index.name] = matching.counterpart(
                    of: index, sql: indexTexts[index.name], besides: Set(result.values.map(\.source)))
            }
        }
        // They are part of the table's text.
        let constraints = indexes.filter { $0.origin == .constraint }
        guard constraints.count == matching.constraintCount, constraints.allSatisfy({ result[$0.name] != nil }) else {
            throw KeptTable.Refusal("its constraints change")
        }
        return result
    }

    private func kept(_ pass: RowPass, _ tables: KeptTables) throws(KeptTable.Refusal) -> KeptTable {
        if pass.kind == .appTable {
            // The app's own, with its own text: nothing in it changes but names.
            let columns = before.columns(of: pass.sourceTable)?.map(\.name) ?? []
            return KeptTable(columns: columns, appended: 0, renumberings: [])
        }
        guard let types = after.columns(of: pass.destinationTable) else {
            throw KeptTable.Refusal("its columns aren't known")
        }
        let kept = try tables.table(pass, types: types.map(\.declaredType))
        guard kept.columns == pass.destinationColumns else { throw KeptTable.Refusal("its columns get another order") }
        return kept
    }
}
