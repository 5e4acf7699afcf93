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

    /// The table that a row fits, by its place in the layout.
    private enum Match: Hashable {
        case table(Int), links(Int)
    }

    private static let namedPages = 100

    private let file: SalvageFile
    private let schema: SalvagedSchema
    private let layout: SalvageLayout
    private let choice: EntityChoice
    private let files: SalvageFiles
    private let reader: ValueReader
    /// Says nothing of values that don't fit: for rows that aren't written.
    private let quietReader: ValueReader
    private let progress: SalvageProgress
    private let shapes: [EntityShape?]
    private var claimed: PageSet
    /// By place in the layout's tables.
    private var keys: [WrittenKeys]
    /// By place in the layout's tables of links.
    private var linkKeys: [WrittenKeys]
    private var content: WrittenContent
    private var entities: [SalvageSummary.Entity]
    private var damage: [SalvageSummary.Damage]
    private var linkDamage: [SalvageSummary.Damage]
    private var linkFiles: [LinkFile?]
    private var linkCounts: [Int]
    private var identicalLinks: [Int]
    private var unmatched = 0
    private var olderCopies = 0

    init(
        _ file: SalvageFile, _ schema: SalvagedSchema, _ layout: SalvageLayout, _ choice: EntityChoice,
        _ files: SalvageFiles, _ reader: ValueReader, _ progress: SalvageProgress
    ) {
        (self.file, self.schema, self.layout, self.choice) = (file, schema, layout, choice)
        (self.files, self.reader, self.progress) = (files, reader, progress)
        quietReader = ValueReader(notes: ExportNotes(), external: reader.external)
        let names = layout.map.layout.entities
        shapes = names.map { ShapeBuilder.shape(of: $0, in: layout.map, hasPlaces: true) }
        claimed = PageSet(pageCount: file.pageCount)
        keys = Array(repeating: WrittenKeys(), count: layout.tables.count)
        linkKeys = Array(repeating: WrittenKeys(), count: layout.links.count)
        content = WrittenContent(file)
        entities = names.map { SalvageSummary.Entity($0) }
        damage = layout.tables.map { SalvageSummary.Damage($0.name, entity: $0.rootEntity) }
        linkDamage = layout.links.map { SalvageSummary.Damage($0.name, entity: nil) }
        linkFiles = Array(repeating: nil, count: layout.links.count)
        linkCounts = Array(repeating: 0, count: layout.links.count)
        identicalLinks = linkCounts
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
                guard free.contains(number) == (origin == .freePage) else { continue }
                try progress.add("pages that no table reaches")
                guard let page = file.page(number), page.isTableLeaf else { continue }
                for row in file.rows(of: page) where try !take(row, .stray(number), origin) { unmatched += 1 }
            }
        }
        for place in 0..<file.unreachedPages {
            try progress.add("pages of the -wal that SQLite doesn't read")
            guard let page = file.unreachedPage(place), page.isTableLeaf else { continue }
            for row in file.rows(of: page) where try !take(row, .unreached(place), .strayLeaf) { unmatched += 1 }
        }
        try progress.check()
        for links in linkFiles { try links?.output.finish() }
    }

    // MARK: - Rows

    private mutating func takeLeaf(_ number: Int, ofTable place: Int) throws(EngineError) {
        try progress.add(layout.tables[place].name)
        guard let page = file.page(number) else { return }
        var broken = 0
        for row in file.rows(of: page) {
            let isWhole = row.cells != nil
            guard let cells = row.cells ?? row.part, let entity = layout.tables[place].entity(of: cells) else {
                // A damaged pointer may lead to another table's leaf.
                if try !take(row, .stray(number), .strayLeaf) || !isWhole { broken += 1 }
                continue
            }
            guard isWhole else {
                broken += 1
                try write(row.rowid, cells, entity, ofTable: place, .incomplete)
                continue
            }
            // A tree never has a key twice; a damaged one may lead to an older copy, or the key itself is damaged.
            let isNew = keys[place].insert(row.rowid, on: .tree(number))
            try write(row.rowid, cells, entity, ofTable: place, isNew ? .rows : .copies)
        }
        damage[place].add(broken, on: number, limit: Self.namedPages)
    }

    private mutating func takeLeaf(_ number: Int, ofLinks place: Int) throws(EngineError) {
        try progress.add(layout.links[place].name)
        guard let page = file.page(number) else { return }
        var broken = 0
        for row in file.rows(of: page) {
            // A link that isn't whole may have both its keys, and lacks its places only.
            if let cells = row.cells ?? row.part, !layout.tables.contains(where: { $0.fits(row.rowid, cells) }),
                try writeLink(row.rowid, cells, place, .tree(number))
            {
                if row.cells == nil { broken += 1 }
                continue
            }
            if try !take(row, .stray(number), .strayLeaf) || row.cells == nil { broken += 1 }
        }
        linkDamage[place].add(broken, on: number, limit: Self.namedPages)
    }

    /// The only table that a row fits, of which nothing but itself says whose it is; nil where there is none, or more.
    private func match(_ key: Int64, _ cells: [CellValue]) -> Match? {
        let tables = layout.tables.indices.filter { layout.tables[$0].fits(key, cells) }.map { Match.table($0) }
        let links = layout.links.indices.filter { layout.links[$0].fits(key, cells) }.map { Match.links($0) }
        let all = tables + links
        return all.count == 1 ? all[0] : nil
    }

    /// A row of which nothing but itself says whose it is.
    /// - Returns: false where it doesn't say so.
    private mutating func take(
        _ row: SalvagedRow, _ leaf: SalvagedLeaf, _ origin: Origin
    ) throws(EngineError) -> Bool {
        // What is left of a deleted row tells too little.
        guard let cells = row.cells ?? (origin == .freePage ? nil : row.part) else { return false }
        let place: Int
        switch match(row.rowid, cells) {
        case nil: return false
        // Deleted links tell nothing: an object's links go when it does.
        case .links(let found): return origin == .freePage ? false : try writeLink(row.rowid, cells, found, leaf)
        case .table(let found): place = found
        }
        guard let entity = layout.tables[place].entity(of: cells) else { return false }
        if row.cells == nil {
            // Its key stays free: a whole row with it counts.
            try write(row.rowid, cells, entity, ofTable: place, .incomplete)
        } else if origin == .strayLeaf {
            let isNew = keys[place].insert(row.rowid, on: leaf)
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
        if kind == .copies || kind == .incomplete, try !isNew(key, own, shape, ofTable: place, kind) {
            entities[index].identicalCopies += 1
            return
        }
        let name = try files.write(shape, key: key, try reader.values(shape, key: key, own), kind)
        entities[index].count(kind, in: name)
        if isRecovered, kind == .rows { entities[index].recovered += 1 }
    }

    /// Whether neither the row that was written for the key nor one of its copies holds the same.
    private mutating func isNew(
        _ key: Int64, _ cells: [CellValue], _ shape: EntityShape, ofTable place: Int, _ kind: SalvageFiles.Kind
    ) throws(EngineError) -> Bool {
        let number = Int(shape.number)
        let values = try quietReader.values(shape, key: key, cells)
        if kind == .copies, let first = firstRow(key, ofTable: place),
            layout.tables[place].entity(of: first) == shape.number
        {
            let own = shape.columns.map { layout.tables[place].cell($0, of: first) }
            // Bits count: two numbers that are equal may have different texts.
            let written = RowContent(kind, number, key: key, try quietReader.values(shape, key: key, own))
            if written == RowContent(kind, number, key: key, values) { return false }
        }
        return content.insert(RowContent(kind, number, key: key, values))
    }

    /// Whether neither the link that was written for the key nor one of its copies is the same.
    private mutating func isNew(
        _ key: Int64, _ ends: [Int64?], ofLinks place: Int, _ leaf: SalvagedLeaf
    ) -> Bool {
        guard !linkKeys[place].insert(key, on: leaf) else { return true }
        if firstLink(key, ofLinks: place) == ends { return false }
        return content.insert(
            RowContent(.copies, -1 - place, key: key, ends.map { $0.map { .integer($0) } ?? .null }))
    }

    /// The cells of the row that was written for a key: a damaged leaf may have another with it, so it is found as it
    /// was then.
    private mutating func firstRow(_ key: Int64, ofTable place: Int) -> [CellValue]? {
        guard let leaf = keys[place].leaf(of: key) else { return nil }
        return content.rows(of: key, on: leaf).compactMap(\.cells).first { cells in
            switch leaf {
            case .tree: layout.tables[place].entity(of: cells) != nil
            case .stray, .unreached: match(key, cells) == .table(place)
            }
        }
    }

    /// The link that was written for a key, found as it was then.
    private mutating func firstLink(_ key: Int64, ofLinks place: Int) -> [Int64?]? {
        guard let leaf = linkKeys[place].leaf(of: key) else { return nil }
        for row in content.rows(of: key, on: leaf) {
            guard let cells = row.cells ?? row.part else { continue }
            let ends = layout.links[place].ends(of: cells)
            let isLink =
                switch leaf {
                case .tree: !layout.tables.contains { $0.fits(key, cells) }
                case .stray, .unreached: match(key, cells) == .links(place)
                }
            if isLink, ends[0] != nil, ends[1] != nil { return ends }
        }
        return nil
    }

    /// - Returns: false for a row that is no link.
    private mutating func writeLink(
        _ key: Int64, _ cells: [CellValue], _ place: Int, _ leaf: SalvagedLeaf
    ) throws(EngineError) -> Bool {
        let (ends, join) = (layout.links[place].ends(of: cells), layout.map.layout.joinTables[place])
        guard let owner = ends[0], let member = ends[1] else { return false }
        guard choice.covers(join.owner) || choice.covers(join.inverseOwner) else { return true }
        guard isNew(key, ends, ofLinks: place, leaf) else {
            identicalLinks[place] += 1
            return true
        }
        if linkFiles[place] == nil {
            let opened = try files.links(join.owner, join.relationship)
            opened.begin()
            linkFiles[place] = opened
        }
        func link(_ key: Int64, _ entity: String) -> ObjectLink {
            ObjectLink(entity: Int32(layout.map.layout.entityNumbers[entity] ?? 0), key: key)
        }
        try linkFiles[place]?.write(
            owner: link(owner, join.owner), member: link(member, join.inverseOwner), position: ends[2],
            ownerPosition: ends[3])
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
                    relationship: "\(join.owner).\(join.relationship)", rows: linkCounts[place],
                    identicalCopies: identicalLinks[place], file: $0.name)
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
