import CausewayMapping
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// How much of the structure of a source's pages SQLite checks before a step reads them.
enum SourceStructure: Hashable, Sendable {
    /// The header's largest root page alone: the step checks all pages that it reads.
    case none
    /// All b-trees but those of these tables, in lower case: the step reads all of their rows out of pages.
    case all(but: Set<String>)

    static let whole = SourceStructure.all(but: [])

    /// Whether this much needs no further check where `other` is asked for.
    func covers(_ other: SourceStructure) -> Bool {
        switch (self, other) {
        case (_, .none): true
        case (.none, _): false
        case (.all(let left), .all(let asked)): left.isSubset(of: asked)
        }
    }

    /// Tables, in lower case, that SQLite leaves out.
    var tablesLeftOut: Set<String> {
        if case .all(let tables) = self { tables } else { [] }
    }

    /// Has SQLite check it.
    ///
    /// - Returns: a warning about space that holds no rows.
    /// - Throws: what is damaged.
    @discardableResult
    func check(_ source: SourceStore, _ cancellation: Cancellation) throws(EngineError) -> String? {
        switch self {
        case .none: try source.checkLargestRoot(cancellation)
        case .all(let tables): try source.checkIntegrity(except: tables, cancellation)
        }
    }
}

extension StepPlan {
    /// Tables of the first step's source that steps which run together read out of pages, if it is inferred; nil where
    /// it isn't, or where there is no such step.
    ///
    /// - Parameter before: the steps that run together with this one, in their order.
    /// - Returns: their names.
    private func projectedTables(after before: [StepPlan]) -> Set<String>? {
        guard let first = before.first, first.objects == nil else { return nil }
        let readers = (before.dropFirst().first ?? self).objects?.mappings.filter { $0.sourceEntity != nil } ?? []
        return Set(readers.compactMap { first.rows(for: $0)?.sourceTable })
    }

    /// What SQLite must check of the source that the first of some steps reads.
    ///
    /// - Parameters:
    ///   - before: the steps that run together with this one, in their order.
    ///   - source: that is read.
    /// - Returns: all that isn't read whole out of pages.
    func structureToCheck(after before: [StepPlan], of source: SourceStore) -> SourceStructure {
        if let tables = projectedTables(after: before) { return .all(but: Set(tables.map { $0.lowercased() })) }
        return (before.first ?? self).structureToCheck(of: source, readersTogether(after: before))
    }

    /// Tables of the source whose rows are all read out of pages, so that a wrong Z_ENT is found there.
    ///
    /// - Parameters:
    ///   - before: the steps that run together with this one, in their order.
    ///   - source: that is read.
    /// - Returns: their names.
    func numberedTables(after before: [StepPlan], of source: SourceStore) -> Set<String> {
        if let tables = projectedTables(after: before) { return tables }
        let first = before.first ?? self
        if first.objects == nil { return first.tablesOfPages }
        return first.mappedTables(of: source, readersTogether(after: before))
    }

    /// What SQLite must check of its source first: what statements read. Code, and expressions that lead to other rows,
    /// read by SQL, too; the tables that they may look into are read whole out of pages all the same before the step
    /// ends, and their indexes before anything is made of them.
    func structureToCheck(of source: SourceStore) -> SourceStructure {
        structureToCheck(of: source, readersTogether(after: []))
    }

    /// - Parameters:
    ///   - source: that is read.
    ///   - together: places of mappings for which a table is read once.
    /// - Returns: all that isn't read whole out of pages.
    private func structureToCheck(of source: SourceStore, _ together: Set<Int>) -> SourceStructure {
        if readsOnlyPages(of: source, together) { return .none }
        return .all(but: Set(mappedTables(of: source, together).map { $0.lowercased() }))
    }

    /// Tables of the source whose rows are all read out of pages, so that a wrong Z_ENT is found there.
    func numberedTables(of source: SourceStore) -> Set<String> { numberedTables(after: [], of: source) }

    /// Tables that entity mappings read out of pages.
    private func mappedTables(of source: SourceStore, _ together: Set<Int>) -> Set<String> {
        Set(
            objects?.mappings.compactMap { plan in
                guard methods.mappings[plan.index]?.method == .pages else { return nil }
                let rows = reading(plan, of: source, together)
                return rows.isOfPages ? rows.shape.table.name : nil
            } ?? [])
    }

    private func reading(
        _ plan: EntityMappingPlan, of source: SourceStore, _ together: Set<Int>
    ) -> MappingReading {
        MappingReading(
            plan, to: .create, pagesOf: source, self.source, isShared: together.contains(plan.index))
    }

    /// Whether all rows of its source are read out of pages, whose structure is checked there, and nobody reads by SQL.
    private func readsOnlyPages(of source: SourceStore, _ together: Set<Int>) -> Bool {
        guard let objects else { return passesReadOnlyPages }
        guard objects.joins.isEmpty, objects.translations.isEmpty, passesReadOnlyPages else { return false }
        return objects.mappings.allSatisfy { plan in
            plan.sourceEntity == nil && plan.description.policyClassName == nil
                || plan.onlyCopies && methods.mappings[plan.index]?.method == .pages
                    && reading(plan, of: source, together).isOfPages
        }
    }
}

extension EntityMappingPlan {
    /// Whether its rows are copied as they are, without code or expressions.
    fileprivate var onlyCopies: Bool {
        description.policyClassName == nil && filter == nil && relationships.isEmpty
            && attributes.allSatisfy { if case .carry = $0.origin { true } else { false } }
    }
}
