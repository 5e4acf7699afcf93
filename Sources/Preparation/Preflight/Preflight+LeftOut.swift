import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Rows that break a step's demands.
///
/// Everything is computed from the rows of the first store. If earlier steps leave rows out, demands on links can't be
/// decided for all rows: a row that would go because of its link stays if the row at the other end goes first, and a
/// row that must have a link goes then.
extension Preflight {
    /// A step's demand, and the rows that break it.
    struct Breach {
        let demand: RowDemand
        let rows: LeftOutRows
        /// Whether the step leaves them out.
        let isLeftOut: Bool
    }

    /// In the steps' order. Reads each table once more if a later step has demands on links.
    func breaches() throws -> [Breach] {
        let demands = RowDemand.all(steps, deciders: deciders, stopsAtViolations: stopsAtViolations)
        let lastOfLinks = demands.last { $0.judgesLinks }?.step ?? 0
        let misfits = lastOfLinks > 0 ? try misfits() : []
        var gone = GoneRows()
        var result: [Breach] = []
        for index in 0...max(lastOfLinks, demands.last?.step ?? 0) {
            var own: [Breach] = []
            for demand in demands where demand.step == index {
                guard let rows = try rows(breaking: demand, after: gone) else { continue }
                let isLeftOut = demand.isCertain && quarantines(steps[index])
                own.append(Breach(demand: demand, rows: rows, isLeftOut: isLeftOut))
            }
            if index < lastOfLinks {
                var leaving = own.filter(\.isLeftOut).map(\.rows) + misfits.filter { $0.step == index }
                if index == 0 { leaving += strangers() }
                try gone.add(leaving, in: source.connection)
            }
            result += own
        }
        return result
    }

    /// Nil where the store can't have such rows.
    private func rows(breaking demand: RowDemand, after gone: GoneRows) throws -> LeftOutRows? {
        guard let table = step.source.table(of: demand.entity), let number = step.sourceNumbers[demand.entity] else {
            return nil
        }
        let condition: RowCondition
        switch demand.breach {
        case .existing, .unknown: condition = RowCondition("1")
        case .null(let attribute):
            guard let column = step.sourceColumn(of: attribute, of: demand.entity) else { return nil }
            condition = RowCondition("t.\(try SQLIdentifier(column)) IS NULL")
        case .value(let attribute):
            guard let column = step.sourceColumn(of: attribute, of: demand.entity) else { return nil }
            condition = RowCondition("t.\(try SQLIdentifier(column)) IS NOT NULL")
        case .missing(let links):
            condition = try step.linkCells(links).condition(isMandatory: true, lost: try keys(of: links, in: gone))
        case .ending(let links):
            condition = try step.linkCells(links).condition(isMandatory: false, lost: try keys(of: links, in: gone))
        }
        return LeftOutRows(step: demand.step, table: table.name, numbers: [number], condition: condition)
    }

    /// The keys of rows at the other end that may be gone.
    private func keys(of links: LinkSource, in gone: GoneRows) throws -> String? {
        guard let found = step.source.model.relationship(links.relationship, of: links.entity) else { return nil }
        let other = links.isInverted ? found.owner : found.relationship.destination
        return try step.source.table(of: other).flatMap { table throws in try gone.keys(of: table.name) }
    }

    /// Rows with the number of no entity of their table.
    private func strangers() -> [LeftOutRows] {
        guard quarantines(step) else { return [] }
        return step.source.tables.compactMap { table in
            step.source.numbers(ofTree: table.rootEntity).map { numbers in
                let own = "t.Z_ENT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
                return LeftOutRows(
                    step: 0, table: table.name, numbers: [], condition: RowCondition("(\(own)) IS NOT TRUE"))
            }
        }
    }

    /// More rows than a step may leave out.
    func excess(_ counts: LeftOutCounts) -> Findings {
        var findings = Findings()
        for (index, step) in steps.enumerated() {
            let entities = counts.least(inStep: index).filter { $0.rows > 0 }
            let rows = entities.reduce(0) { $0 + $1.rows }
            guard rows > BadRowPolicy.maximumRows else { continue }
            let names = entities.prefix(Self.namedEntities).map(\.entity).joined(separator: ", ")
            findings.refuse(
                """
                \(step.versions.joined(separator: " → ")): more than \(BadRowPolicy.maximumRows) rows would be \
                quarantined in one step: at least \(rows), of \(names)\(entities.count > Self.namedEntities ? ", …" : "")
                """, remedy: BadRowPolicy.remedy)
        }
        return findings
    }

    private static let namedEntities = 5
}

extension LinkCells {
    /// Whether a row `t` keeps no such link, if it must have one, or has one that ends; `lost` selects the keys of rows
    /// at the other end to which links may have ended before.
    fileprivate func condition(isMandatory: Bool, lost: String?) -> RowCondition {
        let known = isMandatory ? "\(isMissing) OR \(ends) OR \(isBehind)" : ends
        guard let lost else { return RowCondition(known) }
        switch key {
        case .column(let name):
            let losing = "(t.\(name) IN (\(lost))) IS TRUE"
            return isMandatory
                ? RowCondition(surely: known, perhaps: "\(known) OR \(losing)")
                : RowCondition(surely: "\(ends) AND NOT (\(losing))", perhaps: known)
        case .related(let link):
            // Of several links, another may become the first.
            let losing =
                "t.\"Z_PK\" IN (SELECT \(link.key) FROM \(link.table) WHERE \(link.key) IS NOT NULL AND \(link.value) IN (\(lost)))"
            let stillEnds = "\(ends) AND NOT (\(losing))"
            return RowCondition(
                surely: isMandatory ? "\(isMissing) OR (\(stillEnds))" : stillEnds, perhaps: "\(known) OR \(losing)")
        case .relatedEntity, .position: return RowCondition(known)
        }
    }

    /// Whether a row `t` has no such link.
    private var isMissing: String {
        switch key {
        case .column(let name): "t.\(name) IS NULL"
        // SQLite makes a sorted list of the inner keys, once; it needs no index.
        case .related(let link):
            "t.\"Z_PK\" NOT IN (SELECT \(link.key) FROM \(link.table) WHERE \(link.key) IS NOT NULL)"
        case .relatedEntity, .position: "0"
        }
    }

    /// Whether another row keeps the object of a row `t`.
    private var isBehind: String {
        rivals.map { "t.\($0.value) IN (SELECT v FROM (\($0.first)) WHERE n > 1 AND k IS NOT NULL)" } ?? "0"
    }

    /// Whether a row `t` has such a link that ends; of several links, all.
    private var ends: String {
        let list = ended.sorted().map(String.init).joined(separator: ", ")
        guard !ended.isEmpty else { return "0" }
        switch (entity, key) {
        case (.column(let number), .column(let key)): return "(t.\(key) IS NOT NULL AND t.\(number) IN (\(list)))"
        case (.relatedEntity(_, let table), .column(let key)):
            return "(SELECT r.\"Z_ENT\" FROM \(table) AS r WHERE r.\"Z_PK\" = t.\(key)) IN (\(list))"
        case (.relatedEntity, .related(let link)):
            return """
                (NOT (\(isMissing)) AND t."Z_PK" NOT IN (SELECT k FROM (\(link.first)) WHERE n = 1 AND k IS NOT NULL))
                """
        default: return "NOT (\(isMissing))"
        }
    }
}
