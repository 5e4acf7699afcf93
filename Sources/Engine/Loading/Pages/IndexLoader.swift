import CausewayPlanning
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// Makes the indexes of tables that pages have filled: workers read, the caller writes the indexes in their order. So
/// the pages don't depend on the number of workers.
///
/// A worker reads a table again and sorts the entries of one or two indexes, or compares an index of the source that is
/// carried with what the rows have.
struct IndexLoader {
    let pages: StagingPages
    /// The schema of the new store, as SQLite has made it.
    let schema: StoreSchema
    /// Of the source, by the name of the new index.
    let carried: [String: CarriedIndex]
    let ledger: StepLedger
    let place: StepPlace
    let options: EngineOptions
    /// Whether the records of the tables are summed while they are read.
    let takesSums: Bool
    let cancellation: Cancellation
    let events: (EngineEvent) -> Void

    /// What a worker has found.
    private enum Found: Sendable {
        /// The entries, and the sum of the table's records if somebody asks for it.
        case sorted([SortedEntries], records: EntrySum?)
        /// What is wrong with the source's index, if anything is.
        case carried(fault: String?)
    }

    /// Fills the indexes, in this order, or those that an earlier run has left: each is a station.
    ///
    /// - Returns: the sums of the records of each table that was read, by its name; without `takesSums` none.
    func load(_ indexes: [IndexWork]) throws(EngineError) -> [String: EntrySum] {
        var done = 0
        while done < indexes.count, ledger.hasDone(next: done + 1) { done += 1 }
        ledger.skip(to: ledger.stations + done)
        let open = Array(indexes.dropFirst(done))
        guard !open.isEmpty else { return [:] }
        let file = try pages.reading()
        let units = Self.units(open)
        let pipeline = PlacePipeline(units.indices, jobs: options.jobs, cancellation: cancellation)
        let sorters = (pipeline.workers + 1) * (units.map(\.count).max() ?? 1)
        let reader = TableEntries(
            file: file, schema: schema, memory: options.sortMemoryBytes / sorters, place: place,
            cancellation: cancellation)
        let summed = takesSums ? Self.firsts(of: units, open) : []
        let carried = carried
        let leaves = PackedLeaves(pageSize: pages.pageSize)
        var sums: [String: EntrySum] = [:]
        var told: Set<String> = []
        try pipeline.run { every throws(EngineError) in
            try every { unit throws(EngineError) in
                let works = open[units[unit]]
                if let first = works.first, first.method == .carry {
                    return Found.carried(fault: try Self.carried(first, in: carried).fault())
                }
                let found = try reader.sorted(
                    works.map(\.index), first: units[unit].lowerBound, summing: summed.contains(unit))
                return Found.sorted(found.indexes, records: found.records)
            }
        } take: { (unit: Int, found: Found) throws(EngineError) in
            defer { events(.advanced(share: Double(done + units[unit].upperBound) / Double(indexes.count))) }
            let first = units[unit].lowerBound
            switch found {
            case .sorted(let entries, let records):
                if let records { sums[open[first].index.table] = records }
                try write(entries, of: open[units[unit]], from: first, reader, through: leaves)
            case .carried(nil): try write(open[first].index, carrying: Self.carried(open[first], in: carried), leaves)
            case .carried(let fault?):
                let title = try Self.carried(open[first], in: carried).title
                // Several may come from one.
                if told.insert(title).inserted {
                    events(.warning("\(title): stale in the source: \(fault); it is made from the rows"))
                }
                let entries = try reader.sorted([open[first].index], first: first, summing: false).indexes
                try write(entries, of: open[units[unit]], from: first, reader, through: leaves)
            }
        }
        return sums
    }

    /// Sorted neighbours of one table, two at most: more would leave too little memory for each, and workers without
    /// work.
    private static func units(_ indexes: [IndexWork]) -> [Range<Int>] {
        var units: [Range<Int>] = []
        for place in indexes.indices {
            if let last = units.last, last.count == 1, indexes[place].method == .sort,
                indexes[last.lowerBound].method == .sort,
                indexes[last.lowerBound].index.table == indexes[place].index.table
            {
                units[units.count - 1] = last.lowerBound..<place + 1
            } else {
                units.append(place..<place + 1)
            }
        }
        return units
    }

    /// The first unit of each table whose indexes are sorted.
    private static func firsts(of units: [Range<Int>], _ indexes: [IndexWork]) -> Set<Int> {
        var tables: Set<String> = []
        let sorted = units.indices.filter { indexes[units[$0].lowerBound].method == .sort }
        return Set(sorted.filter { tables.insert(indexes[units[$0].lowerBound].index.table).inserted })
    }

    private static func carried(
        _ work: IndexWork, in carried: [String: CarriedIndex]
    ) throws(EngineError) -> CarriedIndex {
        guard let found = carried[work.index.name] else {
            throw EngineError(
                .verification, "\(work.index.title): the source's index isn't there", remedy: "please report this")
        }
        return found
    }

    private func write(
        _ entries: [SortedEntries], of works: ArraySlice<IndexWork>, from first: Int, _ reader: TableEntries,
        through leaves: PackedLeaves
    ) throws(EngineError) {
        for (place, (work, entries)) in zip(works, entries).enumerated() {
            guard var sorted = entries.sorted.take() else { continue }
            try write(work.index) { root throws(EngineError) in
                var more = true
                while more {
                    try cancellation.check()
                    more = try TableEntries.sorting(work.index) { () throws(IndexSortError) in try sorted.fill(leaves) }
                    try pages.add(leaves, toTreeAt: root)
                }
            }
            let scratch = reader.scratch(first + place)
            try EngineError.at(scratch) { try Files.unlink(scratch) }
            KillPoint.reach(.indexMade)
        }
    }

    private func write(
        _ index: TableIndex, carrying carried: CarriedIndex, _ leaves: PackedLeaves
    ) throws(EngineError) {
        try write(index) { root throws(EngineError) in
            try carried.pack(into: leaves) { () throws(EngineError) in try pages.add(leaves, toTreeAt: root) }
        }
        KillPoint.reach(.indexMade)
    }

    /// Fills the tree of an index; `fill` gets the number of its root page.
    private func write(_ index: TableIndex, _ fill: (Int) throws(EngineError) -> Void) throws(EngineError) {
        guard let page = schema.objects.first(where: { $0.kind == .index && $0.name == index.name })?.rootPage else {
            throw EngineError(
                .verification, "\(index.name): the new store hasn't got the index", remedy: "please report this")
        }
        try ledger.once("index \(index.name)") { () throws(EngineError) in
            let root = Int(page)
            try pages.begin(.index, root: root)
            try fill(root)
            try pages.endTree(at: root)
        }
    }
}
