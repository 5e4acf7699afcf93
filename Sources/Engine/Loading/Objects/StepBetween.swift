import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// A step whose rows flow into the next one's, with which it runs together: its store is never made. Or an inferred
/// step after such steps, of which only a store tells who breaks a rule.
///
/// Its rows are looked at while they are in hand. Where one of them gives reason to doubt that it fulfils the rules of
/// its version, the steps run one by one instead: only a store tells who breaks a rule.
final class StepBetween {
    let step: StepPlan
    let objects: ObjectStep
    private let rules: ValidationRules
    private let tables: [StoreSchema.Table]
    private var inspection: RowInspection
    /// Whether links of its rows must lead to rows, or those are read that may end.
    private var hasLinks = false
    /// Whether links that end in a store of its version may be read.
    let showsLinks: Bool
    /// Whether a link may end; nil as long as that isn't known.
    private(set) var mayEndLinks: Bool?
    /// nil where it has none.
    var policies: BetweenPolicies?
    /// Whether an earlier run has made some of the rows, which nobody has looked at in this one.
    var isPartlySeen = false

    /// - Parameters:
    ///   - step: it.
    ///   - objects: its mappings.
    ///   - showsLinks: whether code or expressions of the next step may read links of its rows.
    /// - Throws: `.plan` where a rule of its version can't be compiled.
    init(_ step: StepPlan, _ objects: ObjectStep, showsLinks: Bool = false) throws(EngineError) {
        (self.step, self.objects, self.showsLinks) = (step, objects, showsLinks)
        rules = try ValidationRules(step.layout)
        tables = step.layout.tables.map { StoreSchema.Table($0) }
        inspection = RowInspection(rules, objects.destination)
        hasLinks = tables.indices.contains { table in
            inspection.questions(ofTable: table).contains { question in
                if case .leads = question.kind { showsLinks || !mayEnd(question, inTable: table) } else { false }
            }
        }
    }

    /// Whether rows of an earlier run must be looked at.
    var asksAgain: Bool { isPartlySeen && hasLinks }

    /// A mapping of the step on the way of a row.
    func stop(of plan: EntityMappingPlan) -> FusedColumns.Stop {
        let entity = plan.destinationEntity ?? 0
        let table = objects.destination.table(of: entity) ?? 0
        return FusedColumns.Stop(
            plan, of: objects, asked: Set(questions(ofTable: table, entity: entity).map(\.column)))
    }

    /// Of the records of an entity's rows.
    ///
    /// - Parameters:
    ///   - entity: its Z_ENT.
    ///   - places: of the columns that are needed; nil for whole records.
    /// - Returns: in the order of the table.
    func columns(of entity: Int32, only places: Set<Int>?) -> [PolicyRecordFormer.Column] {
        let table = objects.destination.table(of: entity) ?? 0
        return PolicyRecordFormer.columns(of: tables[table], objects.destination.tables[table]).filter {
            guard let places else { return true }
            return $0.place.map { places.contains($0) } ?? false
        }
    }

    /// The rules of an entity's rows. A link that may end needs no look: where it leads to nothing in this version, it
    /// does so in the last one, and ends there. But code mustn't see it.
    func questions(ofTable table: Int, entity: Int32) -> [RowQuestion] {
        inspection.questions(ofTable: table, entity: entity).filter { showsLinks || !mayEnd($0, inTable: table) }
    }

    private func mayEnd(_ question: RowQuestion, inTable table: Int) -> Bool {
        guard case .leads = question.kind else { return false }
        return !rules.mustLead(step.layout.tables[table].columns[question.column].name, inTable: table)
    }

    /// Rows are made.
    ///
    /// - Parameters:
    ///   - made: what workers have found in them.
    ///   - entity: their Z_ENT.
    /// - Throws: a misfit where one gives reason to doubt.
    func note(_ made: MappedRows, of entity: Int32) throws(EngineError) {
        if hasLinks {
            for key in made.keys { inspection.note(row: key, of: entity) }
            guard inspection.knowsLinks || !mustKnowLinks else { throw apart("keys of links don't fit into memory") }
        }
        for found in [made.findings, made.carriedFindings] {
            guard found.doubts.isEmpty else { throw apart(Self.doubt) }
            for (check, keys) in found.links { inspection.note(links: keys, of: check) }
        }
    }

    /// Whether a link that must lead to a row could be one that isn't known to.
    private var mustKnowLinks: Bool {
        tables.indices.contains { table in
            inspection.questions(ofTable: table).contains { question in
                if case .leads = question.kind { !mayEnd(question, inTable: table) } else { false }
            }
        }
    }

    /// Begins to look at all rows once more.
    func lookAgain() {
        isPartlySeen = false
        mayEndLinks = nil
        inspection = RowInspection(rules, objects.destination)
    }

    /// Places of the checks whether links lead to rows: those that may end are ended by statements.
    var linkChecks: Set<Int> {
        Set(
            rules.rowChecks.indices.filter { place in
                if case .isDangling = rules.rowChecks[place].condition { true } else { false }
            })
    }

    /// All rows are made.
    ///
    /// - Throws: a misfit where a link must lead to a row and perhaps doesn't.
    func end() throws(EngineError) {
        let optional = step.layout.tables.indices.flatMap { table in
            inspection.questions(ofTable: table).filter { mayEnd($0, inTable: table) }.map(\.place)
        }
        let doubts = inspection.finalDoubts()
        guard doubts.subtracting(optional).isEmpty else { throw apart(Self.doubt) }
        if showsLinks { mayEndLinks = !doubts.isEmpty }
    }

    private static let doubt = "rows may break a rule of the new version"

    /// The steps must run one by one.
    private func apart(_ reason: String) -> EngineError { EngineError(apart: reason, step.versions) }
}
