package import CausewayMapping
import CausewaySQLite
package import CausewaySQLiteFile
package import CausewayStoreFormat

/// One pass: moves the rows of one source statement into one destination table.
///
/// Entity rows, join rows, history and tables of the app's own all move this way; only the statement and the recipes
/// differ.
package struct RowPass: Sendable {
    package enum Kind: String, Hashable, Sendable {
        case entity, links, history, appTable
        /// A table of CloudKit mirroring.
        case mirrored
    }

    /// Its name within the step, by which checkpoints know it; the plan gives it.
    package var id = ""
    package var kind: Kind
    /// For people: the destination's entity, relationship or table.
    package var title: String
    package var shape: RowShape
    package var destinationTable: String
    package var destinationColumns: [String]
    /// The cell of the shape with the row's key, for messages; nil where rows have none.
    package var key: Int?
    /// The cell of the shape whose integer chooses the projection; nil: `projections[0]` is for every row.
    package var discriminator: Int?
    /// By the discriminator's value.
    package var projections: [Int: RowProjection]
    /// Discriminator values whose rows are not migrated: their entity is gone.
    package var dropped: Set<Int> = []
    /// Discriminator values whose rows another pass moves.
    package var elsewhere: Set<Int> = []
    /// Rows with another discriminator value are dropped instead of refused.
    package var dropsUnknown = false

    package init(
        kind: Kind, title: String, shape: RowShape, destinationTable: String, destinationColumns: [String], key: Int?,
        discriminator: Int?, projections: [Int: RowProjection]
    ) {
        self.kind = kind
        self.title = title
        self.shape = shape
        self.destinationTable = destinationTable
        self.destinationColumns = destinationColumns
        self.key = key
        self.discriminator = discriminator
        self.projections = projections
    }

    package var sourceTable: String { shape.table.name }

    /// Why the table may not get all rows of the source's; nil where it does.
    var selection: String? {
        if !dropped.isEmpty { return "rows of entities that go are left out" }
        if !elsewhere.isEmpty { return "some of its rows go to another table" }
        if !shape.conditions.isEmpty { return "other tables decide which rows it gets" }
        return dropsUnknown ? "rows of entities that the model doesn't have would be left out" : nil
    }
}

extension [RowPass] {
    /// The same passes, each with the name that its place gives it.
    package func named(_ name: (Int) -> String) -> [RowPass] {
        enumerated().map { place, pass in
            var pass = pass
            pass.id = name(place)
            return pass
        }
    }
}

/// What happens to one row: a recipe for every destination column.
package struct RowProjection: Sendable {
    /// The entity's name in the destination; for messages and counts.
    package var entity: String
    package var cells: [CellRecipe]

    package init(entity: String, cells: [CellRecipe]) {
        self.entity = entity
        self.cells = cells
    }
}

/// How one destination cell is made. Integers are cells of the pass's shape.
package enum CellRecipe: Sendable {
    /// `RowShape.Cell.position` of a list's first row (InsideStoreFormat §5.4).
    package static let firstPosition: Int64 = 2_048

    /// The source's cell as it is.
    case carry(Int)
    /// The source's cell; the literal where it is NULL.
    case carryOr(Int, CellValue)
    /// The source's number as the types of the conversion keep it; texts and binary data as they are. The literal,
    /// where there is one, for NULL.
    case converted(Int, NumericConversion, ifNull: CellValue?)
    case literal(CellValue)
    /// A key that becomes NULL where its target's entity (`entity` holds its Z_ENT) is among the dropped ones.
    case key(Int, entity: Int, dropped: Set<Int>)
    /// A Z_ENT of the source translated to the destination's; NULL stays NULL, and a dropped entity's becomes NULL.
    case entityNumber(Int, numbers: [Int: Int])
    /// The literal where the source's cell is not NULL, else NULL.
    case literalIfPresent(Int, CellValue)
    /// The recipe's cell where `position` holds `firstPosition`, else NULL.
    indirect case first(CellRecipe, position: Int)
    /// An external-storage value loses its prefix byte; a reference is replaced by its file's content.
    /// `attribute` is the source's, for messages.
    case inlined(Int, attribute: String)
    /// A plain binary value gets the prefix byte of inline storage.
    case prefixed(Int, attribute: String)
    /// A history bitmap rearranged for the destination; NULL where its bits can't be known.
    case historyBitmap(Int, HistoryColumnsMap)
}
