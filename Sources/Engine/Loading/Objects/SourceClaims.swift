import CausewayPlatform
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores
import Synchronization

/// Whose the source's pages are: two trees that have the same page are damaged. A table that is read once more has none.
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

    /// Reads the indexes of tables that mappings read out of pages, which SQLite hasn't checked, and claims the pages of
    /// all other trees, which it has.
    ///
    /// - Parameters:
    ///   - tables: in lower case, that are read out of pages.
    ///   - source: their store.
    ///   - cancellation: checked before each tree.
    /// - Throws: what is damaged.
    func claimTrees(
        beside tables: Set<String>, of source: SourceStore, _ cancellation: Cancellation
    ) throws(EngineError) {
        guard !tables.isEmpty, let file = try? source.pageFile() else { return }
        let batch = RowBatch()
        for object in source.schema.objects where object.rootPage > 0 {
            let isReadAnyway = tables.contains(object.table.lowercased())
            guard object.kind == .index || object.kind == .table && !isReadAnyway else { continue }
            try cancellation.check()
            let tree = TreeRoot(object, in: source.schema)
            let claims = claims(of: tree.page, file)
            do throws(PageReadError) {
                if isReadAnyway {
                    try Self.read(tree, file, claims, batch)
                } else {
                    try file.claim(tree, claims)
                }
            } catch {
                throw EngineError(reading: error, during: object.name)
            }
        }
    }

    private static func read(
        _ index: TreeRoot, _ file: PageFile, _ claims: PageClaims, _ batch: RowBatch
    ) throws(PageReadError) {
        var reader = IndexReader(file, root: index.page, claims: claims)
        while try reader.fill(batch, rows: rowsAtATime, bytes: bytesAtATime) {
            batch.removeAll(keepingCapacity: 2 * bytesAtATime)
        }
        batch.removeAll(keepingCapacity: 2 * bytesAtATime)
    }
}
