import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Loads tables by pages: leaves of the source's tables, read in rowid order, become dense leaves of the new store's.
struct PageLoader: TableLoader {
    let mover: PassMover
    let pages: StagingPages
    /// The schema of the new store, as SQLite has made it.
    let schema: StoreSchema

    func load(_ works: [TableWork], _ progress: inout Progress) throws(EngineError) {
        let file = try file()
        let claims = PageClaims(pageCount: file.layout.pageCount)
        var read: Set<String> = []
        for work in works {
            let carried = work.carriedIndexes.map(\.index)
            for pass in work.passes {
                // Two passes may read one table: each claims its pages.
                let isFirst = read.insert(pass.sourceTable.lowercased()).inserted
                let own = isFirst ? claims : PageClaims(pageCount: file.layout.pageCount)
                try mover.move(pass, &progress) { pass throws(EngineError) in
                    try way(of: pass, carrying: carried, file, own)
                }
            }
        }
    }

    /// The source's file, which the plan has found readable.
    func file() throws(EngineError) -> PageFile {
        do throws(SourceRefusal) {
            return try mover.source.pageFile()
        } catch {
            throw EngineError(
                .inputOutput, "\(mover.source.location.path): its pages can't be read any more: \(error)",
                remedy: "run again with --engine statements")
        }
    }

    private func way(
        of pass: RowPass, carrying indexes: [TableIndex], _ file: PageFile, _ claims: PageClaims
    ) throws(EngineError) -> PassMover.Way<PageSource, PageSink> {
        guard let from = mover.source.schema.table(pass.sourceTable), let to = schema.table(pass.destinationTable)
        else {
            throw EngineError(
                .verification, "\(pass.title): a table of the plan isn't there", remedy: "please report this")
        }
        let (map, splice): (RowMap, PassSplice?)
        let columns = RecordForm.columns(pass, of: to)
        do throws(RecordError) {
            let cells = RowMap.cells(pass.shape, of: from)
            map = try RowMap(cells, defaults: from.columns.map { _ in .null })
            splice =
                mover.quarantines || !mover.options.splices
                ? nil : try PassSplice(pass, from: cells, to: columns, of: from.columns.count)
        } catch {
            throw EngineError(.sourceData, "\(pass.title): \(error.message)")
        }
        let (pages, takesSums) = (pages, mover.state.takesSums)
        let carried = indexes.compactMap { IndexKey($0, of: to) }
        let limits = BatchLimits(
            rows: EngineOptions.pageBatchRows(adding: pass.addedBytes, pageSize: pages.pageSize),
            bytes: EngineOptions.pageBatchBytes(pageSize: pages.pageSize))
        return PassMover.Way<PageSource, PageSink>(
            map: map, limits: limits,
            source: { begun throws(EngineError) in
                let key = begun.flatMap { $0.rows > 0 ? Mutant.isOn(.cursorTooEarly) ? $0.key - 1 : $0.key : nil }
                return PageSource(
                    TableReader(file, root: Int(from.rootPage), after: key, claims: claims), title: pass.title)
            },
            sink: { () throws(EngineError) in
                try PageSink(
                    pages, root: Int(to.rootPage),
                    LeafPacking(
                        pageSize: pages.pageSize, columns: from.columns.count,
                        form: RecordForm(columns, cells: pass.destinationColumns.count),
                        splice: splice, takesSums: takesSums, carried: carried, title: pass.title))
            })
    }
}

extension RowMap {
    /// Where the cells of a shape are in the records of its table.
    static func cells(_ shape: RowShape, of table: StoreSchema.Table) -> [Cell] {
        shape.cells.map { cell -> Cell in
            guard case .column(let name) = cell else { preconditionFailure("only own cells are read out of pages") }
            // `rowid` where no column has the name.
            guard let place = table.position(of: name.name) else { return .rowid }
            let column = table.columns[place]
            return table.isRowID(column) ? .rowid : .column(place, isReal: Affinity(column.declaredType) == .real)
        }
    }
}

extension RecordForm {
    /// The form in which a table stores the rows that a pass makes.
    static func columns(_ pass: RowPass, of table: StoreSchema.Table) -> [Column] {
        let names = pass.destinationColumns
        let places = Dictionary(zip(names.map { $0.lowercased() }, 0...), uniquingKeysWith: { first, _ in first })
        // The app's own values are carried as they are: a STRICT table has rules of its own.
        let isCarried = pass.kind == .appTable
        return table.columns.map { column -> Column in
            guard !table.isRowID(column), let place = places[column.name.lowercased()] else { return .null }
            switch Affinity(column.declaredType) {
            case .numeric: return .cell(place, isCarried ? .asMade : .numeric)
            case .real: return .cell(place, .real)
            case .text, .blob: return .cell(place)
            }
        }
    }
}
