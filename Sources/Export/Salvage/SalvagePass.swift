import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// One salvage: first the trees of all tables, then the leaves that no tree has reached, then the free pages, then what
/// lies behind damage of the `-wal`.
struct SalvagePass {
    /// Where a row was found that no table's tree leads to.
    private enum Origin {
        case strayLeaf, freePage
    }

    private static let namedPages = 100
    /// Pages between two calls of the progress.
    private static let pagesPerReport = 256

    private let file: SalvageFile
    private let schema: SalvagedSchema
    private let layout: SalvageLayout
    private let choice: EntityChoice
    private let files: SalvageFiles
    private let reader: ValueReader
    private let report: (ExportProgress) -> Bool
    private let shapes: [EntityShape?]
    private var claimed: PageSet
    /// By place in the layout's tables.
    private var keys: [KeyRanges]
    private var entities: [SalvageSummary.Entity]
    private var damage: [SalvageSummary.Damage]
    private var linkDamage: [SalvageSummary.Damage]
    private var linkFiles: [LinkFile?]
    private var linkCounts: [Int]
    private var unmatched = 0
    private var olderCopies = 0
    private var pagesSeen = 0

    init(
        _ file: SalvageFile, _ schema: SalvagedSchema, _ layout: SalvageLayout, _ choice: EntityChoice,
        _ files: SalvageFiles, _ reader: ValueReader, _ report: @escaping (ExportProgress) -> Bool
    ) {
        (self.file, self.schema, self.layout, self.choice) = (file, schema, layout, choice)
        (self.files, self.reader, self.report) = (files, reader, report)
        let names = layout.map.layout.entities
        shapes = names.map { ShapeBuilder.shape(of: $0, in: layout.map, hasPlaces: true) }
        claimed = PageSet(pageCount: file.pageCount)
        keys = Array(repeating: KeyRanges(), count: layout.tables.count)
        entities = names.map { SalvageSummary.Entity($0) }
        damage = layout.tables.map { SalvageSummary.Damage($0.name, entity: $0.rootEntity) }
        linkDamage = layout.links.map { SalvageSummary.Damage($0.name, entity: nil) }
        linkFiles = Array(repeating: nil, count: layout.links.count)
        linkCounts = Array(repeating: 0, count: layout.links.count)
    }

    mutating func run() throws(EngineError) {
        for (place, table) in layout.tables.enumerated() where table.root > 0 {
            let tree = SalvagedTree(root: table.root, in: file, claimed: &claimed)
            damage[place].unreadablePages = Array(tree.unreadable.prefix(Self.namedPages))
            for leaf in tree.leaves { try takeLeaf(leaf, ofTable: place) }
        }
        for (place, table) in layout.links.enumerated() where table.root > 0 {
            let tree = SalvagedTree(root: table.root, in: file, claimed: &claimed)
            linkDamage[place].unreadablePages = Array(tree.unreadable.prefix(Self.namedPages))
            for leaf in tree.leaves { try takeLeaf(leaf, ofLinks: place) }
        }
        // The trees that hold no objects only say whose their pages are. They come last: a damaged one may lead to
        // another table's.
        let own = Set((layout.tables + layout.links).map { $0.name.lowercased() })
        for root in [1] + schema.tables.filter({ !own.contains($0.key) }).map({ Int(clamping: $0.value.rootPage) }) {
            _ = SalvagedTree(root: root, in: file, claimed: &claimed)
        }
        let free = file.freePages()
        for origin in [Origin.strayLeaf, .freePage] {
            guard file.pageCount >= 2 else { break }
            for number in 2...file.pageCount where !claimed.contains(number) {
                guard free.contains(number) == (origin == .freePage), let page = file.page(number), page.isTableLeaf
                else { continue }
                try tell("pages that no table reaches")
                for row in file.rows(of: page) where try !take(row, origin) { unmatched += 1 }
            }
        }
        for place in 0..<file.unreachedPages {
            guard let page = file.unreachedPage(place), page.isTableLeaf else { continue }
            try tell("pages of the -wal that SQLite doesn't read")
            for row in file.rows(of: page) where try !take(row, .strayLeaf) { unmatched += 1 }
        }
        for links in linkFiles { try links?.output.finish() }
    }

    private mutating func tell(_ what: String) throws(EngineError) {
        pagesSeen += 1
        guard pagesSeen.isMultiple(of: Self.pagesPerReport) else { return }
        guard report(ExportProgress(entity: what, rows: pagesSeen, total: file.pageCount)) else {
            throw EngineError(.interrupted, "the salvage was stopped; nothing of it was kept")
        }
    }

    // MARK: - Rows

    private mutating func takeLeaf(_ number: Int, ofTable place: Int) throws(EngineError) {
        try tell(layout.tables[place].name)
        guard let page = file.page(number) else { return }
        var broken = 0
        for row in file.rows(of: page) {
            let isWhole = row.cells != nil
            guard let cells = row.cells ?? row.part, let entity = layout.tables[place].entity(of: cells) else {
                // A damaged pointer may lead to another table's leaf.
                if try !take(row, .strayLeaf) || !isWhole { broken += 1 }
                continue
            }
            guard isWhole else {
                broken += 1
                try write(row.rowid, cells, entity, ofTable: place, .incomplete)
                continue
            }
            // A tree never has a key twice; a damaged one may lead to an older copy, or the key itself is damaged.
            let isNew = keys[place].insert(row.rowid)
            try write(row.rowid, cells, entity, ofTable: place, isNew ? .rows : .copies)
        }
        damage[place].add(broken, on: number, limit: Self.namedPages)
    }

    private mutating func takeLeaf(_ number: Int, ofLinks place: Int) throws(EngineError) {
        try tell(layout.links[place].name)
        guard let page = file.page(number) else { return }
        var broken = 0
        for row in file.rows(of: page) {
            // A link that isn't whole may have both its keys, and lacks its places only.
            if let cells = row.cells ?? row.part, !layout.tables.contains(where: { $0.fits(row.rowid, cells) }),
                try writeLink(cells, place)
            {
                if row.cells == nil { broken += 1 }
                continue
            }
            if try !take(row, .strayLeaf) || row.cells == nil { broken += 1 }
        }
        linkDamage[place].add(broken, on: number, limit: Self.namedPages)
    }

    /// A row of which nothing but itself says whose it is.
    /// - Returns: false where it doesn't say so.
    private mutating func take(_ row: SalvagedRow, _ origin: Origin) throws(EngineError) -> Bool {
        // What is left of a deleted row tells too little.
        guard let cells = row.cells ?? (origin == .freePage ? nil : row.part) else { return false }
        let places = layout.tables.indices.filter { layout.tables[$0].fits(row.rowid, cells) }
        let links = layout.links.indices.filter { layout.links[$0].fits(row.rowid, cells) }
        guard places.count + links.count == 1 else { return false }
        guard let place = places.first, let entity = layout.tables[place].entity(of: cells) else {
            // Deleted links tell nothing: an object's links go when it does.
            return origin == .freePage ? false : try writeLink(cells, links[0])
        }
        if row.cells == nil {
            // Its key stays free: a whole row with it counts.
            try write(row.rowid, cells, entity, ofTable: place, .incomplete)
        } else if origin == .strayLeaf {
            let isNew = keys[place].insert(row.rowid)
            try write(row.rowid, cells, entity, ofTable: place, isNew ? .rows : .copies, isRecovered: true)
        } else if keys[place].contains(row.rowid) {
            olderCopies += 1
        } else {
            try write(row.rowid, cells, entity, ofTable: place, .deleted)
        }
        return true
    }

    private mutating func write(
        _ key: Int64, _ cells: [CellValue], _ entity: Int32, ofTable place: Int, _ kind: SalvageFiles.Kind,
        isRecovered: Bool = false
    ) throws(EngineError) {
        let index = Int(entity) - 1
        guard entities.indices.contains(index), let shape = shapes[index], choice.covers(shape.name) else { return }
        let own = shape.columns.map { layout.tables[place].cell($0, of: cells) }
        let name = try files.write(shape, key: key, try reader.values(shape, key: key, own), kind)
        entities[index].count(kind, in: name)
        if isRecovered, kind == .rows { entities[index].recovered += 1 }
    }

    /// - Returns: false for a row that is no link.
    private mutating func writeLink(_ cells: [CellValue], _ place: Int) throws(EngineError) -> Bool {
        let (table, join) = (layout.links[place], layout.map.layout.joinTables[place])
        func number(_ column: Int) -> Int64? {
            if case .integer(let number) = table.cell(column, of: cells) { number } else { nil }
        }
        guard let owner = number(0), let member = number(1) else { return false }
        guard choice.covers(join.owner) || choice.covers(join.inverseOwner) else { return true }
        if linkFiles[place] == nil {
            let opened = try files.links(join.owner, join.relationship)
            opened.begin()
            linkFiles[place] = opened
        }
        func link(_ key: Int64, _ entity: String) -> ObjectLink {
            ObjectLink(entity: Int32(layout.map.layout.entityNumbers[entity] ?? 0), key: key)
        }
        try linkFiles[place]?.write(
            owner: link(owner, join.owner), member: link(member, join.inverseOwner), position: number(2),
            ownerPosition: number(3))
        linkCounts[place] += 1
        return true
    }

    // MARK: - The report

    func tell(_ summary: inout SalvageSummary) {
        let damaged = Set(
            damage.indices.filter { damage[$0].isAny }.flatMap { layout.tables[$0].numbers.map { Array($0) } ?? [] })
        summary.entities = entities.enumerated().filter { place, entity in
            // Of a damaged table one must see what is missing.
            entity.rows + entity.deleted + entity.copies + entity.incomplete > 0
                || damaged.contains(place + 1) && choice.covers(entity.name)
        }.map(\.element)
        summary.damage = (damage + linkDamage).filter(\.isAny)
        summary.links = layout.links.indices.compactMap { place in
            let join = layout.map.layout.joinTables[place]
            return linkFiles[place].map {
                SalvageSummary.Links(
                    relationship: "\(join.owner).\(join.relationship)", rows: linkCounts[place], file: $0.name)
            }
        }
        summary.unmatchedRows = unmatched
        summary.olderCopies = olderCopies
    }
}

extension SalvageSummary.Entity {
    /// Counts a row that was written to a file.
    fileprivate mutating func count(_ kind: SalvageFiles.Kind, in file: String) {
        switch kind {
        case .rows: (rows, self.file) = (rows + 1, file)
        case .deleted: (deleted, deletedFile) = (deleted + 1, file)
        case .copies: (copies, copiesFile) = (copies + 1, file)
        case .incomplete: (incomplete, incompleteFile) = (incomplete + 1, file)
        }
    }
}

extension SalvageSummary.Damage {
    fileprivate var isAny: Bool { brokenRows > 0 || !unreadablePages.isEmpty }

    fileprivate mutating func add(_ rows: Int, on page: Int, limit: Int) {
        guard rows > 0 else { return }
        brokenRows += rows
        if brokenPages.count < limit { brokenPages.append(page) }
    }
}
