package import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// A column with the Z_ENT of a link's target (`Z9_OWNER`) from which a step makes the new store's cells. Without a
/// number nobody knows to which entity the link leads: NULL would lose it without a word.
package struct LinkEntity {
    /// What is wrong with a row that has something else there.
    package static let complaint = "the entity of the link isn't a number"

    package let table: String
    package let column: String
    /// Declares the relationship.
    let entity: String
    package let relationship: String
    /// Z_ENT of the rows whose link is read.
    package let numbers: [Int]

    /// Those of a step's source, in the model's order.
    package static func all(in step: StepPlan) throws -> [LinkEntity] {
        var read: [String: Set<Int>] = [:]
        for pass in step.passes where pass.kind == .entity {
            for (number, projection) in pass.projections {
                for cell in projection.cells.compactMap(\.entityCell) {
                    guard case .column(let name) = pass.shape.cells[cell] else { continue }
                    read["\(pass.sourceTable).\(name.name)", default: []].insert(number)
                }
            }
        }
        return try LinkColumn.all(step.source).compactMap { link in
            guard let column = link.entityColumn, let question = link.questions.first, let holders = link.holders
            else { return nil }
            let having = Set(Int(holders.lowerBound)...Int(holders.upperBound))
            let numbers = step.objects == nil ? having.intersection(read["\(link.table).\(column)"] ?? []) : having
            guard !numbers.isEmpty else { return nil }
            return LinkEntity(
                table: link.table, column: column, entity: question.entity, relationship: question.relationship,
                numbers: numbers.sorted())
        }
    }
}

extension CellRecipe {
    /// The cell with the Z_ENT of a link's target that the recipe reads.
    fileprivate var entityCell: Int? {
        switch self {
        case .key(_, let entity, _): entity
        case .entityNumber(let cell, _): cell
        case .first(let recipe, _): recipe.entityCell
        default: nil
        }
    }
}
