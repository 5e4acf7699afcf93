import CausewayPlanning
package import CausewayPreparation
import CausewayStoreFormat

/// How much work each phase of a run is, as far as the plan tells: seconds at rates that one machine has shown. Only
/// their proportions matter, since a run measures how fast it really is (`WorkMeter`).
package struct WorkPlan: Hashable, Sendable {
    /// Kinds of phases, in the order in which a step has them. What statements make comes after rows and indexes of
    /// pages.
    package enum Kind: Int, Comparable, CaseIterable, Sendable {
        case check, copying, rows, indexes, statementRows, relationships, validation, statementIndexes, handlers
        case verification, swap

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// One phase of one step, or of the run.
    package struct Phase: Hashable, Sendable {
        package var kind: Kind
        /// The first of the steps that run together, counted from 0; nil for a phase of the whole run.
        package var step: Int?
        /// Seconds that it would take on the machine of `Rate`.
        package var seconds: Double
        /// Rows that it reads; 0 where progress isn't counted in rows.
        package var rows = 0

        package init(_ kind: Kind, step: Int? = nil, seconds: Double, rows: Int = 0) {
            (self.kind, self.step, self.seconds, self.rows) = (kind, step, seconds, rows)
        }
    }

    package var phases: [Phase]
    /// Rows that each step reads, about.
    package var rowsOfStep: Int

    package init(_ phases: [Phase], rowsOfStep: Int) {
        (self.phases, self.rowsOfStep) = (phases, rowsOfStep)
    }

    /// Bytes of the store that a second is enough for, on the 2 cores of the README's measurements.
    private enum Rate {
        static let check = 420e6
        static let copying = 1_000e6
        static let pages = 200e6
        static let statements = 65e6
        static let objects = 12e6
        static let linking = 100e6
        static let indexes = 120e6
        static let statementIndexes = 55e6
        static let quick = 400e6
        static let full = 60e6
        static let swap = 5_000e6
        /// Bytes of rows that mapping models without code make.
        static let mapped = 500e6
        /// Seconds for a row that workers make of its source's, without code and by a policy, besides its bytes.
        static let mappedRow = 0.15e-6
        static let policyRow = 3e-6
        /// Reading a table again to sort an index, and seconds for each entry.
        static let rereading = 1_000e6
        static let entry = 0.4e-6
        static let statementEntry = 1e-6
        /// Seconds for a row of mapping models after stage 1: links that are looked up, a hook that does nothing else,
        /// links of join tables that follow new keys, none; its rules.
        static let lookedUpRow = 20e-6
        static let calledRow = 1e-6
        static let joinedRow = 4.5e-6
        static let untouchedRow = 0.1e-6
        static let validatedRow = 0.75e-6
        /// Seconds that every phase takes at least: a few calls that wait for the disk.
        static let least = 0.01
    }

    /// The work of a plan; nothing is measured.
    package init(_ prepared: PreparedMigration, verification: VerificationLevel) {
        let bytes = Double(max(0, prepared.storeBytes))
        phases = [Phase(.check, seconds: bytes / Rate.check + Rate.least)]
        rowsOfStep = prepared.rowsToRead
        var index = 0
        while index < prepared.steps.count {
            let group = prepared.fusion.group(from: index)
            add(group, of: prepared, bytes, verification)
            index = group.upperBound
        }
        phases.append(Phase(.swap, seconds: bytes / Rate.swap + Rate.least))
    }

    private mutating func add(
        _ group: Range<Int>, of prepared: PreparedMigration, _ bytes: Double, _ verification: VerificationLevel
    ) {
        let last = group.upperBound - 1
        let step = prepared.fusion.replacements[last] ?? prepared.steps[last]
        // Of later steps nobody has counted rows: each pass counts the same.
        let counted = group.lowerBound == 0 && prepared.rows.count == step.passes.count && step.objects == nil
        let weights = counted ? prepared.rows.map(Double.init) : step.passes.map { _ in 1 }
        let whole = weights.reduce(0, +)
        func share(_ isIn: (RowPass) -> Bool) -> Double {
            guard whole > 0 else { return 0 }
            return zip(step.passes, weights).reduce(0) { $0 + (isIn($1.0) ? $1.1 : 0) } / whole
        }
        let kept = step.methods.beginning == .copy ? share { step.keeps(table: $0.destinationTable) } : 0
        let pages = share { step.methods.tables[$0.destinationTable]?.method == .rebuild }
        let others = max(0, 1 - kept - pages)
        func append(_ kind: Kind, _ share: Double, _ rate: Double, rows: Double = 0) {
            phases.append(
                Phase(
                    kind, step: group.lowerBound, seconds: bytes * share / rate + Rate.least,
                    rows: Int(rows * Double(rowsOfStep))))
        }
        if kept > 0 { append(.copying, kept, Rate.copying, rows: kept) }
        if let objects = step.objects {
            add(objects, of: step, group, prepared, bytes)
        } else {
            if pages > 1e-9 {
                append(.rows, pages, Rate.pages, rows: pages)
                append(.indexes, pages, Rate.indexes)
            }
            if others > 1e-9 {
                append(.statementRows, others, Rate.statements, rows: others)
                append(.statementIndexes, others, Rate.statementIndexes)
            }
        }
        if !prepared.handlers[last].isEmpty { append(.handlers, 1, Rate.objects) }
        switch verification {
        case .none: append(.verification, 0, 1)
        case .quick: append(.verification, 1 - kept / 2, Rate.quick)
        case .full: append(.verification, 1, Rate.full)
        }
    }

    /// The rows, links and indexes of mapping models.
    private mutating func add(
        _ objects: ObjectStep, of step: StepPlan, _ group: Range<Int>, _ prepared: PreparedMigration, _ bytes: Double
    ) {
        func append(_ kind: Kind, _ share: Double, _ rate: Double, rows: Int = 0, seconds: Double = 0) {
            phases.append(
                Phase(
                    kind, step: group.lowerBound, seconds: bytes * share / rate + seconds + Rate.least, rows: rows))
        }
        let isByPages = !step.methods.mappingsByPages.isEmpty
        let rows = Double(rowsOfStep)
        if isByPages {
            let (bytes, cost) =
                objects.policies.isEmpty ? (Rate.mapped, Rate.mappedRow) : (Rate.pages, Rate.policyRow)
            append(.rows, 1, bytes, rows: rowsOfStep, seconds: rows * cost)
            let sorted = step.indexes.count { step.methods.indexes[$0.name]?.method.writesPages == true }
            if sorted > 0 {
                append(.indexes, 1, Rate.rereading, seconds: rows * Double(sorted) * Rate.entry)
            }
        } else {
            append(.statementRows, 1, Rate.objects, rows: rowsOfStep)
        }
        let related = objects.mappings.map { $0.hasStage2Hook || !$0.relationships.isEmpty }
        // As rows are counted of the first step alone, each mapping counts the same in others.
        let isCounted = group.lowerBound == 0 && prepared.objectRows.count == related.count
        let sizes = isCounted ? prepared.objectRows.map { Double($0) } : related.map { _ in 1 }
        let all = max(1, sizes.reduce(0, +))
        let part = zip(sizes, related).reduce(0) { $0 + ($1.1 ? $1.0 : 0) } / all
        let lookedUp = zip(sizes, objects.mappings).reduce(0) { $0 + ($1.1.relationships.isEmpty ? 0 : $1.0) } / all
        let joined = objects.translations.isEmpty ? Rate.untouchedRow : Rate.joinedRow
        let linking = lookedUp * Rate.lookedUpRow + (part - lookedUp) * Rate.calledRow + joined
        append(.relationships, 0, 1, seconds: rows * linking)
        if isByPages {
            append(.validation, 0, 1, seconds: rows * Rate.validatedRow)
        } else {
            append(.validation, 1, Rate.linking)
        }
        // Those of join tables: nobody knows how large these are.
        let others = step.indexes.count { index in
            index.origin != .constraint && step.methods.indexes[index.name]?.method.writesPages != true
        }
        if !isByPages {
            append(.statementIndexes, 1, Rate.statementIndexes)
        } else if others > 0 {
            append(.statementIndexes, 0, 1, seconds: rows * Double(others) * Rate.statementEntry)
        }
    }
}
