import CausewayPlatform
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("A tree continues from a saved state", .timeLimit(.minutes(60))) struct TreeStateTests {
    private static func rows(_ count: Int, seed: Int) -> [MadeRow] {
        (0..<count).map { MadeRow(Int64($0) - 40, payload: 2 + ($0 * 71 + seed) % 300 + ($0 % 30 == 7 ? 4_000 : 0)) }
    }

    private static func entries(_ count: Int) -> [[CellValue]] {
        (0..<count).map { entry in
            [.blob([UInt8(entry >> 8), UInt8(entry & 0xff)] + MadeRow.pattern[0..<entry * 37 % 180]), .integer(1)]
        }
    }

    /// Two tables and an index in turn, as steps that can start at any one.
    private struct Work {
        let schema = "CREATE TABLE t(a); CREATE TABLE u(a); CREATE TABLE w(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID"
        let store: NewStore
        let roots: [Int]
        let batch: Int

        init(pageSize: Int, autoVacuum: Int, batch: Int) throws {
            store = try NewStore(pageSize: pageSize, autoVacuum: autoVacuum, schema)
            roots = try ["t", "u", "w"].map { [store] name in try store.root(name) }
            self.batch = batch
        }

        func steps(pageSize: Int) throws -> [(tree: Int, leaves: PackedLeaves)] {
            let trees = [
                try NewStore.pack(rows(700, seed: 1), pageSize: pageSize, batch: batch),
                try NewStore.pack(rows(300, seed: 5), pageSize: pageSize, batch: batch),
                try NewStore.pack(entries(600), pageSize: pageSize, pagesPerBatch: batch / 2 + 1),
            ]
            return (0..<trees.reduce(0) { max($0, $1.count) }).flatMap { turn in
                trees.indices.filter { turn < trees[$0].count }.map { ($0, trees[$0][turn]) }
            }
        }

        func start(_ writer: borrowing DatabaseWriter) throws -> [TreeBuilder] {
            var trees: [TreeBuilder] = []
            for (index, root) in roots.enumerated() {
                trees.append(try TreeBuilder(index == 2 ? .index : .table, root: root, on: writer))
            }
            return trees
        }
    }

    @Test("at every batch, with the same bytes", arguments: [(512, 40), (512, 13), (1_024, 1)], [0, 1])
    func resumes(size: (page: Int, batch: Int), autoVacuum: Int) throws {
        let (pageSize, batch) = size
        let whole = try Work(pageSize: pageSize, autoVacuum: autoVacuum, batch: batch)
        let empty = try NewStore(copying: whole.store)
        var states: [(writer: DatabaseWriter.State, trees: [TreeState])] = []
        var writer = try DatabaseWriter(whole.store.file())
        var trees = try whole.start(writer)
        for step in try whole.steps(pageSize: pageSize) {
            states.append((try writer.checkpoint(), trees.map(\.state)))
            try trees[step.tree].add(step.leaves, to: &writer)
        }
        states.append((try writer.checkpoint(), trees.map(\.state)))
        for tree in trees { try tree.finish(with: &writer) }
        try writer.finish(syncs: false)
        #expect(try whole.store.check() == "ok")
        let wanted = try whole.store.bytes

        let stride = max(1, states.count / 12)
        for interruption in Swift.stride(from: 0, to: states.count, by: stride) {
            let store = try NewStore(copying: empty)
            try Self.interrupt(whole, store, at: interruption)
            var writer = try DatabaseWriter(store.file(), resuming: states[interruption].writer)
            var trees: [TreeBuilder] = []
            for state in states[interruption].trees { trees.append(try TreeBuilder(resuming: state, on: writer)) }
            for step in try whole.steps(pageSize: pageSize).dropFirst(interruption) {
                try trees[step.tree].add(step.leaves, to: &writer)
            }
            for tree in trees { try tree.finish(with: &writer) }
            try writer.finish(syncs: false)
            let isSame = try store.bytes == wanted
            #expect(isSame, "after \(interruption) of \(states.count) batches")
        }
    }

    /// Does the steps before `interruption` and saves a state after each, then some more, whose pages don't
    /// count; and leaves rubbish after them.
    private static func interrupt(_ work: Work, _ store: NewStore, at interruption: Int) throws {
        var writer = try DatabaseWriter(store.file())
        var trees = try work.start(writer)
        let steps = try work.steps(pageSize: writer.pageSize)
        for step in steps.prefix(interruption) { try trees[step.tree].add(step.leaves, to: &writer) }
        let pages = try writer.checkpoint().nextPage - 1
        for step in steps.dropFirst(interruption).prefix(4) { try trees[step.tree].add(step.leaves, to: &writer) }
        if interruption % 2 == 1 {
            let pageSize = writer.pageSize
            try writeRubbish(store, pages * pageSize..<writer.pageCount * pageSize + 5_000)
            // Entries of those pages in the pointer-map page before them.
            let map = (pages - 1) / (pageSize / 5 + 1) * (pageSize / 5 + 1) + 2
            let isAutoVacuum = try writer.checkpoint().isAutoVacuum
            guard isAutoVacuum, map <= pages else { return }
            try writeRubbish(store, (map - 1) * pageSize + 5 * (pages - map)..<map * pageSize)
        }
    }

    private static func writeRubbish(_ store: NewStore, _ bytes: Range<Int>) throws {
        let file = try store.file()
        let rubbish = [UInt8](repeating: 0xee, count: bytes.count)
        try unsafe rubbish.withUnsafeBytes { try unsafe file.write($0, at: Int64(bytes.lowerBound)) }
    }

    @Test("a state of another file, or a damaged one, is refused")
    func refuses() throws {
        let work = try Work(pageSize: 512, autoVacuum: 1, batch: 40)
        var writer = try DatabaseWriter(work.store.file())
        var trees = try work.start(writer)
        for step in try work.steps(pageSize: 512) { try trees[step.tree].add(step.leaves, to: &writer) }
        let state = try writer.checkpoint()
        for change: (inout DatabaseWriter.State) -> Void in [
            { $0.pageSize = 1_024 }, { $0.isAutoVacuum = false }, { $0.nextPage += 1 }, { $0.nextPage = 1 },
            { $0.nextPage = 106 }, { $0.nextPage = -5 }, { $0.nextPage = .min }, { $0.nextPage = .max },
        ] {
            var state = state
            change(&state)
            let error = #expect(throws: PageBuildError.self) {
                _ = try DatabaseWriter(work.store.file(), resuming: state)
            }
            #expect(error?.code == .badState)
        }
        for tree in trees {
            let changes: [(inout TreeState) -> Void] = [
                { $0.root = 0 }, { $0.root = 1 << 40 }, { $0.heldLeaf = [1, 2] },
                { $0.kind = $0.kind == .table ? .index : .table },
                { $0.levels[0].page.removeLast() }, { $0.levels[0].page[0] = 13 }, { $0.levels[0].page[3] = 9 },
                { $0.levels[0].page[5] ^= 2 }, { $0.levels[0].page[6] ^= 1 }, { $0.levels[0].page[12] ^= 0x81 },
                { $0.levels[0].pending = [] }, { $0.levels[0].pending[0].page = 0 },
                { $0.levels[0].pending[0].page = .max }, { $0.levels[0].hasPages.toggle() },
                { $0.levels[0].pending[0].divider = Array(repeating: 1, count: 400) }, { $0.levels.removeLast() },
                { $0.levels[0].pending[0].divider = [0x81] }, { $0.levels[0].pending[0].divider.append(0) },
                { $0.largestRowid = $0.kind == .table ? nil : 5 }, { $0.heldLeaf = [UInt8](repeating: 0, count: 512) },
                Self.emptyPage,
            ]
            for (number, change) in changes.enumerated() {
                var state = tree.state
                change(&state)
                let error = #expect(throws: PageBuildError.self, "change \(number) of \(tree.state.kind)") {
                    _ = try TreeBuilder(resuming: state, on: writer)
                }
                #expect(error?.code == .badState)
            }
        }
    }

    /// Two children for a page without cells: it would end without a cell, as there is one for its last child only.
    private static func emptyPage(_ state: inout TreeState) {
        let empty = [state.levels[0].page[0], 0, 0, 0, 0, 2, 0]
        state.levels[0].page = empty + [UInt8](repeating: 0, count: 512 - empty.count)
        // A rowid, or an entry of three bytes.
        let divider: [UInt8] = state.kind == .table ? [1] : [3, 2, 1, 9]
        let child = TreeState.Child(page: state.levels[0].pending[0].page, divider: divider)
        state.levels[0].pending = ([child] + state.levels[0].pending).suffix(2)
    }

    @Test("a damaged state never traps", arguments: [0, 1])
    func damage(autoVacuum: Int) throws {
        let work = try Work(pageSize: 512, autoVacuum: autoVacuum, batch: 40)
        var writer = try DatabaseWriter(work.store.file())
        var trees = try work.start(writer)
        for step in try work.steps(pageSize: 512) { try trees[step.tree].add(step.leaves, to: &writer) }
        let last = MadeRow(1_000_000, payload: 1_200)
        let state = try writer.checkpoint()
        var held = TreeState(kind: .table, root: work.roots[0])
        held.heldLeaf = try Self.leaf(with: MadeRow(1, payload: 1_200))
        held.largestRowid = 1
        for (number, whole) in (trees.map(\.state) + [held]).enumerated() {
            for byte in 0..<512 {
                var damaged = whole
                if whole.levels.isEmpty {
                    damaged.heldLeaf[byte] ^= 0x91
                } else {
                    damaged.levels[0].page[byte] ^= 0x91
                }
                let file = try work.store.file()
                let more = try NewStore.pack([last], pageSize: 512, batch: 1)[0]
                do throws(PageBuildError) {
                    var writer = try DatabaseWriter(file, resuming: state)
                    var tree = try TreeBuilder(resuming: damaged, on: writer)
                    if number != 2 { try tree.add(more, to: &writer) }
                    try tree.finish(with: &writer)
                } catch {
                    #expect(error.code == .badState, "tree \(number), byte \(byte)")
                }
            }
        }
    }

    @Test("a held leaf that can't be read is refused")
    func heldLeaves() throws {
        let store = try NewStore(pageSize: 512, autoVacuum: 1, "CREATE TABLE t(a)")
        var held = TreeState(kind: .table, root: try store.root("t"))
        held.heldLeaf = try Self.leaf(with: MadeRow(1, payload: 1_200))
        held.largestRowid = 1
        let writer = try DatabaseWriter(store.file())
        _ = try TreeBuilder(resuming: held, on: writer)
        let cell = Int(held.heldLeaf[8]) << 8 | Int(held.heldLeaf[9])
        // Of another kind, without cells, with a pointer over the page's end, before the cells, and one too many; a
        // payload over the limit, and one whose part goes over the end.
        let changes: [[(Int, UInt8)]] = [
            [(0, 10)], [(0, 5)], [(4, 0)], [(8, 2)], [(8, 0)], [(4, 2)],
            (0..<5).map { (cell + $0, [0x88, 0x80, 0x80, 0x80, 0][$0]) }, [(cell, 0x83), (cell + 1, 0x10)],
        ]
        for (number, change) in changes.enumerated() {
            var state = held
            for (offset, byte) in change { state.heldLeaf[offset] = byte }
            let error = #expect(throws: PageBuildError.self, "change \(number)") {
                _ = try TreeBuilder(resuming: state, on: writer)
            }
            #expect(error?.code == .badState)
        }
    }

    @Test("a state can't make a pointer-map page a child", arguments: [2, 105])
    func pointerMapPages(page: Int) throws {
        let work = try Work(pageSize: 512, autoVacuum: 1, batch: 40)
        var writer = try DatabaseWriter(work.store.file())
        var trees = try work.start(writer)
        for step in try work.steps(pageSize: 512) { try trees[step.tree].add(step.leaves, to: &writer) }
        for tree in trees {
            var state = tree.state
            state.levels[0].pending[0].page = page
            let damaged = try TreeBuilder(resuming: state, on: writer)
            do throws(PageBuildError) {
                try damaged.finish(with: &writer)
                Issue.record("page \(page) became a child")
            } catch {
                #expect(error.code == .badState)
                #expect(error.page == page)
            }
        }
    }

    /// The bytes of a page with one row, as `heldLeaf` has them.
    private static func leaf(with row: MadeRow) throws -> [UInt8] {
        let store = try NewStore(pageSize: 512, autoVacuum: 0, "CREATE TABLE t(a)")
        let root = try store.root("t")
        var writer = try DatabaseWriter(store.file())
        var tree = try TreeBuilder(.table, root: root, on: writer)
        try tree.add(try NewStore.pack([row], pageSize: 512, batch: 1)[0], to: &writer)
        return tree.state.heldLeaf
    }
}
