import CausewayCheckpoint
import CausewayPlatform
import CausewaySQLiteFile
import CausewayStores

/// The new store while its trees are built page by page: no connection is open on it.
///
/// Empty roots are filled, free pages are used, and then pages are added behind those that SQLite has made; the header
/// doesn't count them before `finish`. The state is saved with the step's progress, in a checkpoint that counts once
/// these pages are durable.
final class StagingPages {
    /// The part of the progress that has the state.
    static let part = "pages"

    /// What is saved.
    struct State {
        var writer: DatabaseWriter.State
        /// Those that are begun and not ended, in the order of their roots.
        var trees: [TreeState] = []
        var isFinished = false
    }

    private let file: StagingFile
    let pageSize: Int
    /// nil before `open`, after a failure, and once the file is a whole database again.
    private var writer: DatabaseWriter?
    /// By the number of their root page: rows of several tables may come by turns.
    private var trees: [Int: TreeBuilder] = [:]
    /// As of the last `prepare`, or of an earlier run.
    private var state: State?
    /// Whether an earlier run may have filled roots of trees that this one begins.
    private var isResumed = false

    /// - Parameter file: made and closed by SQLite, or left by an earlier run.
    /// - Throws: `.foreignCheckpoint` where it isn't a database, `.inputOutput`.
    init(_ file: StagingFile) throws(EngineError) {
        self.file = file
        guard let header = try Self.header(of: file) else {
            throw EngineError(.foreignCheckpoint, "\(file.path): the unfinished store isn't a database any more")
        }
        pageSize = header.pageSize
    }

    private static func header(of file: StagingFile) throws(EngineError) -> DatabaseHeader? {
        try EngineError.at(file.path) {
            DatabaseHeader(try Files.readPrefix(of: file.path, length: DatabaseHeader.length))
        }
    }

    // MARK: - Building

    /// Opens the file: to begin, or to go on from the restored state.
    func open() throws(EngineError) {
        let path = self.file.path
        let file = try EngineError.at(path) { try OpenFile(path, mode: .readWrite) }
        isResumed = state != nil
        do throws(PageBuildError) {
            guard let state else {
                writer = try DatabaseWriter(file)
                return
            }
            let resumed = try DatabaseWriter(file, resuming: state.writer)
            for tree in state.trees { trees[tree.root] = try TreeBuilder(resuming: tree, on: resumed) }
            writer = consume resumed
        } catch {
            // Another file than the one that the state, or SQLite, has left.
            guard error.code == .badState || error.code == .unsuitable else {
                throw EngineError(writing: error, during: path)
            }
            throw EngineError(.foreignCheckpoint, "\(path): \(error.message)")
        }
    }

    /// Begins the tree at a root page, or goes on with it.
    func begin(_ kind: TreeKind, root: Int) throws(EngineError) {
        if trees[root] != nil { return }
        let isResumed = isResumed
        trees[root] = try building { writer throws(PageBuildError) in
            if isResumed, !Mutant.isOn(.rootsKept) { try writer.empty(root, kind) }
            return try TreeBuilder(kind, root: root, on: writer)
        }
    }

    /// Adds the next leaves of the tree at a root page, which is begun.
    func add(_ leaves: PackedLeaves, toTreeAt root: Int) throws(EngineError) {
        precondition(trees[root] != nil, "leaves are added to a tree that isn't begun")
        try building { writer throws(PageBuildError) in try trees[root]?.add(leaves, to: &writer) }
    }

    /// The file as far as it is written, to read trees that are finished. No connection is open on it, so closing it
    /// drops no lock.
    func reading() throws(EngineError) -> PageFile {
        let path = self.file.path
        let count = writer?.pageCount ?? 0
        let file = try EngineError.at(path) { try OpenFile(path, mode: .read) }
        do throws(SourceRefusal) {
            let layout = try DatabaseLayout(building: file, pageCount: count)
            return PageFile(file, layout)
        } catch {
            throw EngineError(error, ofNewStore: path)
        }
    }

    /// Ends the tree at a root page.
    func endTree(at root: Int) throws(EngineError) {
        guard let ended = trees.removeValue(forKey: root) else { return }
        try building { writer throws(PageBuildError) in try ended.finish(with: &writer) }
    }

    /// Makes the file a whole database again, durably, and closes it.
    func finish() throws(EngineError) {
        try prepare()
        guard let ended = writer.take() else { return }
        do throws(PageBuildError) {
            try ended.finish(syncs: !Mutant.isOn(.noWholeSync))
        } catch {
            throw EngineError(writing: error, during: file.path)
        }
        state?.isFinished = true
    }

    /// The deliberate break `wholeTooEarly`: says that the file is whole before `finish` makes it so.
    func pretendFinished() throws(EngineError) {
        try prepare()
        state?.isFinished = true
    }

    /// After a failure only the saved state counts: the writer is gone.
    private func building<Value>(
        _ body: (inout DatabaseWriter) throws(PageBuildError) -> Value
    ) throws(EngineError) -> Value {
        guard var writer = writer.take() else {
            throw EngineError(.verification, "\(file.path): its pages can't be written any more")
        }
        do throws(PageBuildError) {
            let value = try body(&writer)
            self.writer = consume writer
            return value
        } catch {
            throw EngineError(writing: error, during: file.path)
        }
    }

    // MARK: - Saving

    /// Called before each commit: everything that the state speaks of is in the file then.
    func prepare() throws(EngineError) {
        if let state, state.isFinished { return }
        let trees = trees.sorted { $0.key < $1.key }.map(\.value.state)
        state = try building { writer throws(PageBuildError) in State(writer: try writer.checkpoint(), trees: trees) }
    }

    /// Returns when the pages that the state speaks of are on the medium.
    func sync() throws(EngineError) {
        if let state, state.isFinished { return }
        if Mutant.isOn(.noPageSync) { return }
        do throws(EngineError) {
            try building { writer throws(PageBuildError) in try writer.sync() }
        } catch {
            var error = error
            error.isFailedSync = true
            throw error
        }
    }

    /// Whether a checkpoint was written in the middle of the pages, and is about the file as it is. A connection that
    /// has written since has counted that in the header: then the progress in the store is newer.
    static func isUnfinished(_ record: StepRecord, _ file: StagingFile) throws(EngineError) -> Bool {
        guard let bytes = record.parts[part] else { return false }
        var reader = FieldReader(bytes)
        guard let state = try? State(from: &reader), !state.isFinished, let header = try header(of: file) else {
            return false
        }
        // One more after `finish`.
        return [state.writer.changeCounter, state.writer.changeCounter &+ 1].contains(header.changeCounter)
    }

    func save(_ writer: inout FieldWriter) {
        state?.save(&writer)
    }

    func restore(_ reader: inout FieldReader) throws(CheckpointError) {
        state = try State(from: &reader)
    }
}

extension StagingPages.State {
    /// Levels of interior pages: with 512-byte pages and 2³² of them there are fewer.
    private static let maximumLevels = 64
    /// Children that wait on one level.
    private static let maximumPending = 8
    /// Trees that are built at a time.
    private static let maximumTrees = 1_000_000

    func save(_ out: inout FieldWriter) {
        out.write(isFinished)
        out.write(writer.pageSize)
        out.write(writer.isAutoVacuum)
        out.write(writer.nextPage)
        out.write(UInt64(writer.changeCounter))
        out.write(writer.firstFreelistTrunk)
        out.write(writer.freelistCount)
        out.write(writer.nextFreePage)
        out.write(count: trees.count)
        for tree in trees { Self.save(tree, &out) }
    }

    private static func save(_ tree: TreeState, _ out: inout FieldWriter) {
        out.write(tree.kind == .index)
        out.write(tree.root)
        out.write(tree.largestRowid != nil)
        out.write(tree.largestRowid ?? 0)
        out.write(bytes: tree.heldLeaf)
        out.write(tree.hasLastLeaf)
        out.write(count: tree.levels.count)
        for level in tree.levels {
            out.write(bytes: level.page)
            out.write(level.hasPages)
            out.write(count: level.pending.count)
            for child in level.pending {
                out.write(child.page)
                out.write(bytes: child.divider)
            }
        }
    }

    init(from reader: inout FieldReader) throws(CheckpointError) {
        isFinished = try reader.bool()
        let (pageSize, isAutoVacuum) = (try reader.int(), try reader.bool())
        let nextPage = try reader.int()
        let changeCounter = UInt32(truncatingIfNeeded: try reader.unsigned())
        let (firstFreelistTrunk, freelistCount) = (try reader.int(), try reader.int())
        writer = DatabaseWriter.State(
            pageSize: pageSize, isAutoVacuum: isAutoVacuum, nextPage: nextPage, changeCounter: changeCounter,
            firstFreelistTrunk: firstFreelistTrunk, freelistCount: freelistCount, nextFreePage: try reader.int())
        for _ in 0..<(try reader.count(limit: Self.maximumTrees)) { trees.append(try Self.tree(from: &reader)) }
    }

    private static func tree(from reader: inout FieldReader) throws(CheckpointError) -> TreeState {
        let isIndex = try reader.bool()
        var tree = TreeState(kind: isIndex ? .index : .table, root: try reader.int())
        let hasRows = try reader.bool()
        let largest = try reader.signed()
        tree.largestRowid = hasRows ? largest : nil
        tree.heldLeaf = try reader.bytes()
        tree.hasLastLeaf = try reader.bool()
        for _ in 0..<(try reader.count(limit: maximumLevels)) {
            let page = try reader.bytes()
            let hasPages = try reader.bool()
            var pending: [TreeState.Child] = []
            for _ in 0..<(try reader.count(limit: maximumPending)) {
                let number = try reader.int()
                pending.append(TreeState.Child(page: number, divider: try reader.bytes()))
            }
            tree.levels.append(TreeState.Level(page: page, pending: pending, hasPages: hasPages))
        }
        return tree
    }
}
