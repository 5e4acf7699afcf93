import CausewayMapping
import CausewayPlanning
import CausewayStoreFormat

/// Which cells of a pass a digest covers, derived from its recipes: those that carry what the source holds, numbers of
/// another type included. What a pass makes anew (literals, entity numbers, re-encoded values) is no part of it.
///
/// Rows with a key are digested column by column, hashed with the key; rows without one (join tables, tables of the app's
/// own without a key column) as a whole.
final class DigestShape: Sendable {
    /// How the source's cell becomes the destination's.
    enum Rule: Sendable {
        case plain
        /// The literal in place of NULL.
        case replacingNull(StoredLiteral)
        /// The number as its new type keeps it; the literal, where there is one, in place of NULL.
        case converting(NumericConversion, ifNull: StoredLiteral?)
        /// NULL where the result column `entity` names a dropped entity.
        case ending(entity: Int, dropped: Set<Int>)
        /// NULL unless the result column `position` holds `CellRecipe.firstPosition`.
        indirect case first(Rule, position: Int)
    }

    /// One carried cell.
    struct Cell: Sendable {
        /// The column in the destination.
        let column: String
        /// Position among the destination's columns.
        let output: Int
        /// Position among the columns of the pass's statement.
        let input: Int
        let rule: Rule
    }

    /// The rows of one projection.
    struct Group: Sendable {
        /// The discriminator's value in the source; 0 without one.
        let number: Int
        /// The destination's entity.
        let entity: String
        let cells: [Cell]
        /// Place of the group's first value.
        let offset: Int
    }

    /// Values of one column: two sums and the number of cells that aren't NULL.
    static let valuesPerColumn = 3

    let table: String
    let groups: [Group]
    /// The position of the key among the destination's columns; nil where rows have none.
    let key: Int?
    /// All values of one side. Of each group: rows, then its columns.
    let valueCount: Int

    init(_ pass: RowPass) {
        table = pass.destinationTable
        let projections = pass.projections.sorted { $0.key < $1.key }
        key = Self.key(of: pass)
        var groups: [Group] = []
        var offset = 0
        for (number, projection) in projections {
            var cells: [Cell] = []
            for (output, recipe) in projection.cells.enumerated() {
                guard let (input, rule) = Self.carried(recipe) else { continue }
                cells.append(Cell(column: pass.destinationColumns[output], output: output, input: input, rule: rule))
            }
            groups.append(Group(number: number, entity: projection.entity, cells: cells, offset: offset))
            offset += 1 + (key == nil ? 1 : cells.count) * Self.valuesPerColumn
        }
        self.groups = groups
        valueCount = offset
    }

    /// Columns that are summed on their own: (name, place of its first value).
    func columns(of group: Group) -> [(name: String?, place: Int)] {
        if key == nil { return [(nil, group.offset + 1)] }
        return group.cells.enumerated().map { ($1.column, group.offset + 1 + $0 * Self.valuesPerColumn) }
    }

    private static func key(of pass: RowPass) -> Int? {
        guard let key = pass.key, let first = pass.projections.values.first else { return nil }
        let position = first.cells.firstIndex {
            if case .carry(key) = $0 { return true }
            return false
        }
        guard let position else { return nil }
        let isEverywhere = pass.projections.values.allSatisfy {
            if $0.cells.indices.contains(position), case .carry(key) = $0.cells[position] { return true }
            return false
        }
        return isEverywhere ? position : nil
    }

    private static func carried(_ recipe: CellRecipe) -> (input: Int, rule: Rule)? {
        switch recipe {
        case .carry(let cell): return (cell, .plain)
        case .carryOr(let cell, let literal): return (cell, .replacingNull(literal))
        case .converted(let cell, let conversion, let literal):
            return (cell, .converting(conversion, ifNull: literal))
        case .key(let cell, let entity, let dropped): return (cell, .ending(entity: entity, dropped: dropped))
        case .first(let recipe, let position):
            return carried(recipe).map { ($0.input, .first($0.rule, position: position)) }
        case .literal, .entityNumber, .literalIfPresent, .inlined, .prefixed, .historyBitmap: return nil
        }
    }
}
