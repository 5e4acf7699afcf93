import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Synchronization

/// Whose the source's pages are: two trees that have the same page are damaged. A table that is read once more has
/// none.
final class SourceClaims: Sendable {
    private let state = Mutex<(roots: Set<Int>, claims: PageClaims?)>(([], nil))
    /// Of an index's entries at a time, which nobody looks at.
    private static let (rowsAtATime, bytesAtATime) = (4_096, 1 << 20)

    /// What to read a tree with.
    func claims(of root: Int, _ file: PageFile) -> PageClaims {
        state.withLock { state in
            guard state.roots.insert(root).inserted else { return PageClaims(pageCount: file.layout.pageCount) }
            let claims = state.claims ?? PageClaims(pageCount: file.layout.pageCount)
            state.claims = claims
            return claims
        }
    }

    /// Reads the indexes of tables that mappings read out of pages, which SQLite hasn't checked, and claims the pages
    /// of all other trees, which it has, and the free ones.
    ///
    /// - Parameters:
    ///   - tables: in lower case, that are read out of pages.
    ///   - source: their store.
    ///   - isResumed: whether an earlier run may have read some of these tables: then all of their pages are claimed
    ///     now, as nobody will read them again.
    ///   - cancellation: checked before each tree, and while indexes are read.
    /// - Throws: what is damaged.
    func claimTrees(
        beside tables: Set<String>, of source: SourceStore, isResumed: Bool, _ cancellation: Cancellation
    ) throws(EngineError) {
        guard !tables.isEmpty, let file = try? source.pageFile() else { return }
        let roots = Set(tables.compactMap { source.schema.table($0)?.rootPage })
        let batch = RowBatch()
        var seen: Set<Int64> = []
        for object in source.schema.objects where object.rootPage > 0 {
            guard object.kind == .index || object.kind == .table else { continue }
            try cancellation.check()
            let tree = TreeRoot(object, in: source.schema)
            // A name can be another's to SQLite and the same to us: the tree decides.
            let isMapped = object.kind == .table && roots.contains(object.rootPage)
            try Self.reading(object.name) { () throws(PageReadError) in
                guard seen.insert(object.rootPage).inserted else {
                    throw PageReadError(.usedTwice, page: tree.page)
                }
                if isMapped, !isResumed { return }
                let claims = claims(of: tree.page, file)
                if object.kind == .table || !tables.contains(object.table.lowercased()) {
                    try file.claim(tree, claims)
                } else {
                    var reader = IndexReader(file, root: tree.page, claims: claims)
                    while try reader.fill(batch, rows: Self.rowsAtATime, bytes: Self.bytesAtATime) {
                        batch.removeAll(keepingCapacity: 2 * Self.bytesAtATime)
                        if cancellation.isCancelled { return }
                    }
                    batch.removeAll(keepingCapacity: 2 * Self.bytesAtATime)
                }
            }
        }
        try cancellation.check()
        try Self.reading("the list of free pages") { () throws(PageReadError) in
            if let claims = state.withLock({ $0.claims }) { try file.claimFreePages(claims) }
        }
    }

    private static func reading(
        _ name: String, _ body: () throws(PageReadError) -> Void
    ) throws(EngineError) {
        do throws(PageReadError) {
            try body()
        } catch {
            throw EngineError(reading: error, during: name)
        }
    }
}
