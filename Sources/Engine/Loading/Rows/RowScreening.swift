import CausewayMapping
import CausewayPlanning
import CausewayPreparation
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// What a pass needs to leave bad rows out and to write their lines: one per pass, if bad rows are quarantined.
///
/// Its rows have every column of the source's table, even those that the destination no longer has: a line shows the
/// row as it was.
struct RowScreening: Sendable {
    /// A demand on the rows of an entity.
    enum Demand: Sendable {
        /// There must not be such a row.
        case noRow(BadRow)
        case notNull(cell: Int, BadRow)
        /// The link must not lead to a row of these entities; without a cell it always does.
        case staying(key: Int, entity: Int?, ended: Set<Int>, BadRow)
        /// The row must be the first of those with a link to the same row; the cell holds its place.
        case first(place: Int, BadRow)
        /// The cell with the Z_ENT of a link's target must hold an integer or NULL.
        case entityNumber(cell: Int, relationship: String)
        /// The last type of the conversion must hold the cell's number; `place` says where.
        case converts(cell: Int, NumericConversion, attribute: String, place: String)
        /// A reference to an external file must lead to one. A row without its file is kept, with a line in the rejects
        /// file.
        case reference(cell: Int, attribute: String)
    }

    /// The plan's pass with all columns.
    let pass: RowPass
    /// By the discriminator's value.
    let demands: [Int: [Demand]]
    /// Rows whose Z_ENT names no entity of the table are this pass's; if several passes read a table, they belong to
    /// the first one.
    let takesStrangers: Bool
    /// What a line shows: columns and their cells.
    let columns: [(name: String, cell: Int)]
    /// Entities of the source by the discriminator's value; empty if rows aren't objects.
    let entities: [Int: String]
    let storeUUID: String
    /// Cells whose external value becomes NULL in the new row if it can't be read, by the discriminator's value.
    var optional: [Int: [Int]] = [:]
}

extension RowScreening {
    /// nil where rows have no key by which they could be told apart.
    ///
    /// - Parameters:
    ///   - pass: the plan's.
    ///   - step: the step that it belongs to.
    ///   - storeUUID: the store's, for URIs.
    ///   - fates: what happens to references to external files.
    ///   - checksReferences: whether references that are carried are looked up; false if an earlier step did.
    /// - Throws: `.plan` if the source has a name that SQL can't express.
    init?(
        _ pass: RowPass, of step: StepPlan, storeUUID: String, fates: ReferenceFates, checksReferences: Bool
    ) throws(EngineError) {
        guard pass.key != nil else { return nil }
        var pass = pass
        var names: [String] = []
        var entities: [Int: String] = [:]
        var demands: [Int: [Demand]] = [:]
        var optional: [Int: [Int]] = [:]
        do {
            if pass.kind == .entity {
                for column in step.source.table(named: pass.sourceTable)?.columns ?? [] {
                    _ = pass.shape.index(of: .column(try SQLIdentifier(column.name)))
                    names.append(column.name)
                }
                for (name, number) in step.sourceNumbers { entities[number] = name }
                demands = try Self.demands(step, &pass)
                for link in try LinkEntity.all(in: step) where link.table == pass.sourceTable {
                    let cell = pass.shape.index(of: .column(try SQLIdentifier(link.column)))
                    for number in link.numbers where pass.projections[number] != nil {
                        demands[number, default: []].append(
                            .entityNumber(cell: cell, relationship: link.relationship))
                    }
                }
                for watched in fates.watched(pass.sourceTable) where pass.projections[watched.number] != nil {
                    let cell = pass.shape.index(of: .column(try SQLIdentifier(watched.column)))
                    if watched.fate == .carried, checksReferences {
                        demands[watched.number, default: []].append(
                            .reference(cell: cell, attribute: watched.attribute))
                    } else if watched.fate == .inlined {
                        optional[watched.number, default: []].append(cell)
                    }
                }
            }
        } catch {
            throw EngineError(.plan, "\(pass.title): \(error)")
        }
        var places: [String: Int] = [:]
        for (cell, content) in pass.shape.cells.enumerated() {
            guard case .column(let name) = content else { continue }
            places[name.name] = cell
            if pass.kind != .entity { names.append(name.name) }
        }
        self.init(
            pass: pass, demands: demands,
            takesStrangers: step.passes.first {
                $0.kind == .entity && $0.discriminator != nil && $0.sourceTable == pass.sourceTable
            }?.destinationTable == pass.destinationTable,
            columns: names.compactMap { name in places[name].map { (name, $0) } }, entities: entities,
            storeUUID: storeUUID, optional: optional)
    }

    /// The steps' demands on the rows that the pass moves, earlier steps first: a line's reason is the same as if they
    /// ran one by one.
    private static func demands(_ step: StepPlan, _ pass: inout RowPass) throws -> [Int: [Demand]] {
        var result: [Int: [Demand]] = [:]
        for mapping in step.mapping.entityMappings {
            guard let entity = mapping.source, let number = step.sourceNumbers[entity], pass.projections[number] != nil
            else { continue }
            for index in step.firstStep..<(step.firstStep + step.versions.count - 1) {
                var demands: [Demand] = []
                for obligation in mapping.obligations where obligation.step == index {
                    demands += try Self.demands(obligation, of: entity, step, &pass)
                }
                for change in mapping.conversions where change.step == index {
                    guard let column = step.sourceColumn(of: change.source, of: entity) else { continue }
                    demands.append(
                        .converts(
                            cell: pass.shape.index(of: .column(try SQLIdentifier(column))), change.conversion,
                            attribute: change.attribute, place: step.place(of: change)))
                }
                result[number, default: []] += demands
            }
        }
        return result
    }

    private static func demands(
        _ obligation: Obligation, of entity: String, _ step: StepPlan, _ pass: inout RowPass
    ) throws -> [Demand] {
        let reason = "\(step.place(of: obligation)) \(obligation.change.rawValue)"
        func bad(_ complaint: String = "") -> BadRow {
            BadRow(
                code: obligation.property == nil ? .migration : .missingMandatoryProperty,
                property: obligation.property, reason: reason + complaint)
        }
        func staying(_ cells: LinkCells) -> [Demand] {
            guard !cells.ended.isEmpty else { return [] }
            return [
                .staying(
                    key: pass.shape.index(of: cells.key), entity: cells.entity.map { pass.shape.index(of: $0) },
                    ended: cells.ended, bad(", but its link can't stay"))
            ]
        }
        let lacks = ", but is NULL"
        switch obligation.demand {
        case .noRows: return [.noRow(bad())]
        case .noNulls(let attribute):
            guard let column = step.sourceColumn(of: attribute, of: entity) else { return [] }
            return [.notNull(cell: pass.shape.index(of: .column(try SQLIdentifier(column))), bad(lacks))]
        case .noMissing(let links) where !links.canBe(of: entity, in: step.sourceModel): return [.noRow(bad(lacks))]
        case .noEnding(let links) where !links.canBe(of: entity, in: step.sourceModel): return []
        case .noMissing(let links):
            let cells = try step.linkCells(links)
            let first = cells.place.map {
                Demand.first(place: pass.shape.index(of: $0), bad(", but another row keeps it"))
            }
            return [.notNull(cell: pass.shape.index(of: cells.key), bad(lacks))] + staying(cells)
                + [first].compactMap(\.self)
        case .noEnding(let links): return staying(try step.linkCells(links))
        }
    }
}
