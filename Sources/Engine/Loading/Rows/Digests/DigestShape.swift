import CausewayMapping
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat

/// Which cells of a pass a digest covers, derived from its recipes: those that carry what the source holds, numbers of
/// another type included. Values that a pass makes (literals, entity numbers, re-encoded values) aren't included.
///
/// Rows with a key are digested column by column, hashed with the key; rows without one (join tables, tables of the
/// app's own without a key column) as a whole.
final class DigestShape: Sendable {
    /// How the source's cell becomes the destination's.
    enum Rule: Sendable {
        case plain
        /// The literal in place of NULL.
        case replacingNull(CellValue)
        /// The number as its new type keeps it; the literal, where there is one, in place of NULL.
        case converting(NumericConversion, ifNull: CellValue?)
        /// NULL where the cell `entity` names a dropped entity.
        case ending(entity: Int, dropped: Set<Int>)
        /// Not from the source: NULL, in a column that other projections with the same sums carry.
        case absent
    }

    /// One carried cell.
    struct Cell: Sendable {
        /// The column in the destination.
        let column: String
        /// Position among the destination's columns.
        let output: Int
        /// Position among the pass's cells.
        let input: Int
        let rule: Rule
        /// NULL unless this cell of the pass holds `CellRecipe.firstPosition`; nil: in any case.
        let position: Int?

        var isPlain: Bool {
            if case .plain = rule { position == nil } else { false }
        }
    }

    /// The rows of one projection.
    ///
    /// If the new store can't distinguish the rows of several projections (two entities became one), these share their
    /// sums: the same offset and the same columns.
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
    /// One for each projection, by its number.
    let groups: [Group]
    /// The groups with sums of their own: of those that share sums, the first.
    let summed: [Group]
    /// The destination's column that tells rows apart, and the groups by what it holds; nil where there is one at most.
    let discriminator: (output: Int, groups: [Int64: Group])?
    /// The position of the key among the destination's columns; nil where rows have none.
    let key: Int?
    /// All values of one side. Of each group: rows, then its columns.
    let valueCount: Int

    init(_ pass: RowPass) {
        table = pass.destinationTable
        let projections = pass.projections.sorted { $0.key < $1.key }
        key = Self.key(of: pass)
        let telling = pass.discriminator == nil ? nil : Self.tellingColumn(projections.map(\.value))
        var families: [Int64: [RowProjection]] = [:]
        func label(_ projection: RowProjection) -> Int64 { telling.flatMap { projection.integer(at: $0) } ?? 0 }
        for (_, projection) in projections { families[label(projection), default: []].append(projection) }
        var groups: [Group] = []
        var summed: [Int64: Group] = [:]
        var offset = 0
        for (number, projection) in projections {
            let label = label(projection)
            let cells = Self.cells(of: projection, among: families[label] ?? [], pass.destinationColumns)
            let group = Group(
                number: number, entity: projection.entity, cells: cells, offset: summed[label]?.offset ?? offset)
            groups.append(group)
            guard summed[label] == nil else { continue }
            summed[label] = group
            offset += 1 + (key == nil ? 1 : cells.count) * Self.valuesPerColumn
        }
        self.groups = groups
        self.summed = summed.values.sorted { $0.offset < $1.offset }
        discriminator = telling.map { ($0, summed) }
        valueCount = offset
    }

    /// The first column in which every projection writes its entity's number.
    private static func tellingColumn(_ projections: [RowProjection]) -> Int? {
        projections.first?.cells.indices.first { output in projections.allSatisfy { $0.integer(at: output) != nil } }
    }

    /// The cells that a projection carries; of several that share sums, those that each of them carries or leaves NULL.
    private static func cells(
        of projection: RowProjection, among family: [RowProjection], _ columns: [String]
    ) -> [Cell] {
        var cells: [Cell] = []
        for (output, recipe) in projection.cells.enumerated() {
            let own = carried(recipe)
            if family.count > 1 {
                let recipes = family.map { $0.cells.indices.contains(output) ? $0.cells[output] : .literal(.null) }
                guard recipes.contains(where: { carried($0) != nil }),
                    recipes.allSatisfy({ carried($0) != nil || $0.isNull })
                else { continue }
            } else if own == nil {
                continue
            }
            let (input, rule, position) = own ?? (0, .absent, nil)
            cells.append(Cell(column: columns[output], output: output, input: input, rule: rule, position: position))
        }
        return cells
    }

    /// Columns that are summed on their own: (name, place of its first value).
    func columns(of group: Group) -> [(name: String?, place: Int)] {
        if key == nil { return [(nil, group.offset + 1)] }
        return group.cells.enumerated().map { ($1.column, group.offset + 1 + $0 * Self.valuesPerColumn) }
    }

    private static func key(of pass: RowPass) -> Int? {
        guard let key = pass.key, let first = pass.projections.values.first else { return nil }
        let position = first.cells.firstIndex { if case .carry(key) = $0 { true } else { false } }
        guard let position else { return nil }
        let isEverywhere = pass.projections.values.allSatisfy {
            if $0.cells.indices.contains(position), case .carry(key) = $0.cells[position] { true } else { false }
        }
        return isEverywhere ? position : nil
    }

    private static func carried(_ recipe: CellRecipe) -> (input: Int, rule: Rule, position: Int?)? {
        switch recipe {
        case .carry(let cell): return (cell, .plain, nil)
        case .carryOr(let cell, let literal): return (cell, .replacingNull(literal), nil)
        case .converted(let cell, let conversion, let literal):
            return (cell, .converting(conversion, ifNull: literal), nil)
        case .key(let cell, let entity, let dropped): return (cell, .ending(entity: entity, dropped: dropped), nil)
        case .first(let recipe, let position):
            return carried(recipe).map { inner in
                precondition(inner.position == nil, "a recipe has one position at most")
                return (inner.input, inner.rule, position)
            }
        case .literal, .entityNumber, .literalIfPresent, .inlined, .prefixed, .historyBitmap: return nil
        }
    }
}

extension RowProjection {
    /// The number in this column of every row; nil if the recipe isn't a number.
    fileprivate func integer(at output: Int) -> Int64? {
        guard cells.indices.contains(output), case .literal(.integer(let number)) = cells[output] else { return nil }
        return number
    }
}

extension CellRecipe {
    fileprivate var isNull: Bool {
        if case .literal(.null) = self { true } else { false }
    }
}
