import CausewayMapping
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// One operation of making a row: trivial, so that making a row touches no reference count. Anything with memory of its
/// own is in `RecipeStock`.
enum RowOperation {
    /// Cells of the row, side by side before and after.
    case carry(Range<Int>)
    case literals(Int)
    case carryOr(Int, literal: Int)
    case converted(Int, conversion: Int, literal: Int?)
    case key(Int, entity: Int, dropped: Int)
    case entityNumber(Int, numbers: Int)
    case literalIfPresent(Int, literal: Int)
    /// An operation of the stock where the cell `position` holds `CellRecipe.firstPosition`, else NULL.
    case first(operation: Int, position: Int)
    case inlined(Int, attribute: Int)
    case prefixed(Int, attribute: Int)
    case historyBitmap(Int, map: Int)
}

/// Values that the operations of a pass refer to by index.
struct RecipeStock {
    var literals: [EncodedCells] = []
    var conversions: [NumericConversion] = []
    var dropped: [Set<Int>] = []
    var numbers: [[Int: Int]] = []
    var maps: [HistoryColumnsMap] = []
    var operations: [RowOperation] = []
    /// Names of attributes, for messages.
    var attributes: [String] = []
}

/// Turns the recipes of a pass into operations.
///
/// Neighbouring cells that are only carried become one copy, neighbouring literals are encoded once for the whole pass.
struct RecipeCompiler {
    /// The pass's, for messages.
    let title: String
    private(set) var stock = RecipeStock()

    /// The operations for the rows of one projection.
    mutating func compile(_ recipes: [CellRecipe]) throws(EngineError) -> [RowOperation] {
        var result: [RowOperation] = []
        var pending: [CellValue] = []
        for recipe in recipes {
            if case .literal(let literal) = recipe {
                pending.append(literal)
                continue
            }
            if !pending.isEmpty {
                result.append(.literals(try add(pending)))
                pending = []
            }
            if case .carry(let cell) = recipe, case .carry(let before)? = result.last, before.upperBound == cell {
                result[result.count - 1] = .carry(before.lowerBound..<cell + 1)
            } else {
                result.append(try operation(recipe))
            }
        }
        if !pending.isEmpty { result.append(.literals(try add(pending))) }
        return result
    }

    private mutating func operation(_ recipe: CellRecipe) throws(EngineError) -> RowOperation {
        switch recipe {
        case .carry(let cell): return .carry(cell..<cell + 1)
        case .literal(let literal): return .literals(try add([literal]))
        case .carryOr(let cell, let literal): return .carryOr(cell, literal: try add([literal]))
        case .converted(let cell, let conversion, let literal):
            var place: Int?
            if let literal { place = try add([literal]) }
            return .converted(cell, conversion: stock.conversions.place(for: conversion), literal: place)
        case .key(let cell, let entity, let dropped):
            return .key(cell, entity: entity, dropped: stock.dropped.place(for: dropped))
        case .entityNumber(let cell, let numbers):
            return .entityNumber(cell, numbers: stock.numbers.place(for: numbers))
        case .literalIfPresent(let cell, let literal): return .literalIfPresent(cell, literal: try add([literal]))
        case .first(let recipe, let position):
            return .first(operation: stock.operations.place(for: try operation(recipe)), position: position)
        case .inlined(let cell, let attribute):
            return .inlined(cell, attribute: stock.attributes.place(for: attribute))
        case .prefixed(let cell, let attribute):
            return .prefixed(cell, attribute: stock.attributes.place(for: attribute))
        case .historyBitmap(let cell, let map): return .historyBitmap(cell, map: stock.maps.place(for: map))
        }
    }

    private mutating func add(_ literals: [CellValue]) throws(EngineError) -> Int {
        do {
            return stock.literals.place(for: try EncodedCells(literals))
        } catch {
            throw EngineError(.plan, "\(title): a default value is too large: \(error.message)")
        }
    }
}

extension Array {
    /// Appends an element and returns its index.
    fileprivate mutating func place(for element: Element) -> Int {
        append(element)
        return count - 1
    }
}
