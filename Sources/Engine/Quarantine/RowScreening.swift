import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat

/// What a pass needs to know to leave bad rows out and to write them down: where bad rows are quarantined, one a pass.
///
/// Its statement gives every column of the source's table, those too that the destination no longer has: what is left out
/// of the store is written down as it was.
struct RowScreening: Sendable {
    /// What a row of an entity must fulfil.
    enum Demand: Sendable {
        /// There must be no such row.
        case noRow(BadRow)
        case notNull(cell: Int, BadRow)
        /// The last type of the conversion must hold the cell's number; `place` says where.
        case converts(cell: Int, NumericConversion, attribute: String, place: String)
        /// A reference to an external file leads to one. A row without its file is kept, and written down.
        case reference(cell: Int, attribute: String)
    }

    /// The plan's pass with all columns.
    let pass: RowPass
    /// By the discriminator's value.
    let demands: [Int: [Demand]]
    /// Rows whose Z_ENT names no entity of the table are this pass's; where several passes read a table, they are the
    /// first one's.
    let takesStrangers: Bool
    /// What a line shows: columns and where they stand in the statement's result.
    let columns: [(name: String, cell: Int)]
    /// Entities of the source by the discriminator's value; empty where rows are no objects.
    let entities: [Int: String]
    let storeUUID: String

    /// nil where rows have no key by which they could be told apart.
    ///
    /// - Parameters:
    ///   - pass: the plan's.
    ///   - step: the step that it belongs to.
    ///   - storeUUID: the store's, for URIs.
    ///   - fates: what becomes of references to external files; nil where they were looked at before.
    /// - Throws: `.plan` where the source has a name that can't be asked for.
    init?(
        _ pass: RowPass, of step: StepPlan, storeUUID: String, fates: ReferenceFates? = nil
    ) throws(EngineError) {
        guard pass.key != nil else { return nil }
        var pass = pass
        var names: [String] = []
        var entities: [Int: String] = [:]
        var demands: [Int: [Demand]] = [:]
        do {
            if pass.kind == .entity {
                for column in step.source.tables.first(where: { $0.name == pass.sourceTable })?.columns ?? [] {
                    _ = pass.select.index(of: .column(try SQLIdentifier(column.name)))
                    names.append(column.name)
                }
                for (name, number) in step.sourceNumbers { entities[number] = name }
                demands = try Self.demands(step, &pass)
                for watched in fates?.watched(pass.sourceTable) ?? [] where watched.fate == .carried {
                    guard pass.projections[watched.number] != nil else { continue }
                    let cell = pass.select.index(of: .column(try SQLIdentifier(watched.column)))
                    demands[watched.number, default: []].append(.reference(cell: cell, attribute: watched.attribute))
                }
            }
        } catch {
            throw EngineError(.plan, "\(pass.title): \(error)")
        }
        var places: [String: Int] = [:]
        for (cell, content) in pass.select.cells.enumerated() {
            guard case .column(let name) = content else { continue }
            places[name.name] = cell
            if pass.kind != .entity { names.append(name.name) }
        }
        columns = names.compactMap { name in places[name].map { (name, $0) } }
        takesStrangers =
            step.passes.first {
                $0.kind == .entity && $0.discriminator != nil && $0.sourceTable == pass.sourceTable
            }?.destinationTable == pass.destinationTable
        self.pass = pass
        self.entities = entities
        self.demands = demands
        self.storeUUID = storeUUID
    }

    /// The obligations of the entities whose rows the pass moves.
    private static func demands(_ step: StepPlan, _ pass: inout RowPass) throws -> [Int: [Demand]] {
        var result: [Int: [Demand]] = [:]
        for mapping in step.mapping.entityMappings {
            guard let entity = mapping.source, let number = step.sourceNumbers[entity], pass.projections[number] != nil
            else { continue }
            if step.mustBeEmpty.contains(entity) {
                let reason = "\(entity) is abstract in the new version"
                result[number, default: []].append(
                    .noRow(BadRow(code: .migration, property: nil, reason: reason)))
            }
            for obligation in mapping.obligations {
                let place = "\(step.version(of: obligation)): \(obligation.entity).\(obligation.property)"
                let reason = "\(place) \(obligation.change.rawValue)"
                let cell: RowSelect.Cell
                switch obligation.demand {
                case .noRows:
                    result[number, default: []].append(.noRow(bad(obligation, reason)))
                    continue
                case .noNulls(let attribute):
                    guard let column = step.sourceColumn(of: attribute, of: entity) else { continue }
                    cell = .column(try SQLIdentifier(column))
                case .noMissing(let links): cell = try step.linkCell(links)
                }
                result[number, default: []].append(
                    .notNull(cell: pass.select.index(of: cell), bad(obligation, reason + ", but is NULL")))
            }
        }
        try addConversions(step, &pass, to: &result)
        return result
    }

    /// The numbers that must fit their new types.
    private static func addConversions(
        _ step: StepPlan, _ pass: inout RowPass, to demands: inout [Int: [Demand]]
    ) throws(SQLiteError) {
        for mapping in step.mapping.entityMappings {
            guard let entity = mapping.source, let number = step.sourceNumbers[entity], pass.projections[number] != nil
            else { continue }
            for change in mapping.conversions {
                guard let column = step.sourceColumn(of: change.source, of: entity) else { continue }
                demands[number, default: []].append(
                    .converts(
                        cell: pass.select.index(of: .column(try SQLIdentifier(column))), change.conversion,
                        attribute: change.attribute, place: step.place(of: change)))
            }
        }
    }

    private static func bad(_ obligation: Obligation, _ reason: String) -> BadRow {
        BadRow(code: .missingMandatoryProperty, property: obligation.property, reason: reason)
    }
}

extension StepPlan {
    /// The version that makes an attribute mandatory.
    func version(of obligation: Obligation) -> String { version(ofStep: obligation.step) }

    /// The source's column of an attribute that `entity` has or inherits.
    func sourceColumn(of path: String, of entity: String) -> String? {
        for ancestor in sourceModel.lineage(of: entity) {
            if let column = source.column(.attribute(entity: ancestor.name, path: path)) { return column.name }
        }
        return nil
    }
}
