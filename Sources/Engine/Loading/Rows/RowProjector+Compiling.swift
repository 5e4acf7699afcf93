import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

extension RowProjector {
    /// Turns recipes into operations.
    struct Compiler {
        private(set) var literals: [EncodedCells] = []

        mutating func compile(_ recipes: [CellRecipe], title: String) throws(EngineError) -> [Operation] {
            var result: [Operation] = []
            var pending: [CellValue] = []
            for recipe in recipes {
                if case .literal(let literal) = recipe {
                    pending.append(CellValue(literal))
                    continue
                }
                if !pending.isEmpty {
                    result.append(.literals(try add(pending, title)))
                    pending = []
                }
                result.append(try operation(recipe, title))
                mergeCarriedRuns(&result)
            }
            if !pending.isEmpty { result.append(.literals(try add(pending, title))) }
            return result
        }

        private mutating func operation(_ recipe: CellRecipe, _ title: String) throws(EngineError) -> Operation {
            switch recipe {
            case .carry(let cell): .carry(cell..<cell + 1)
            case .literal(let literal): .literals(try add([CellValue(literal)], title))
            case .carryOr(let cell, let literal): .carryOr(cell, literal: try add([CellValue(literal)], title))
            case .converted(let cell, let conversion, let literal):
                .converted(
                    cell, conversion,
                    literal: try literal.map { (literal) throws(EngineError) in try add([CellValue(literal)], title) })
            case .key(let cell, let entity, let dropped): .key(cell, entity: entity, dropped: dropped)
            case .entityNumber(let cell, let numbers): .entityNumber(cell, numbers: numbers)
            case .literalIfPresent(let cell, let literal):
                .literalIfPresent(cell, literal: try add([CellValue(literal)], title))
            case .first(let recipe, let position): .first(try operation(recipe, title), position: position)
            case .inlined(let cell): .inlined(cell)
            case .prefixed(let cell): .prefixed(cell)
            case .historyBitmap(let cell, let map): .historyBitmap(cell, map)
            }
        }

        private mutating func add(_ values: [CellValue], _ title: String) throws(EngineError) -> Int {
            do {
                literals.append(try EncodedCells(values))
            } catch {
                throw EngineError(.plan, "\(title): a default value is too large: \(error.message)")
            }
            return literals.count - 1
        }

        private func mergeCarriedRuns(_ operations: inout [Operation]) {
            guard operations.count > 1, case .carry(let last) = operations[operations.count - 1],
                case .carry(let before) = operations[operations.count - 2], before.upperBound == last.lowerBound
            else { return }
            operations.removeLast()
            operations[operations.count - 1] = .carry(before.lowerBound..<last.upperBound)
        }
    }
}
