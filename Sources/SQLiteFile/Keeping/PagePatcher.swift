/// Overwrites integers in the pages of patched trees, one page after another; in overflow pages in a second pass, when
/// all pages are copied: an overflow page may lie in any chunk.
///
/// Used by one thread; allocates nothing for a page, or for a row whose integers lie on it.
@safe
final class PagePatcher {
    private let records: RecordPatcher
    private let coverage: PageCoverage
    private let pageSize: Int
    private let prefix: RecordPrefix

    init(_ plan: CopyPlan, _ source: PageFile) {
        records = RecordPatcher(plan.program)
        coverage = PageCoverage(pageSize: source.layout.pageSize)
        pageSize = source.layout.pageSize
        prefix = RecordPrefix(source, plan)
    }

    func takeCounts(into counts: inout PatchCounts) {
        records.takeCounts(into: &counts)
    }

    /// Patches a page in memory, and counts; or, in the second pass, what of its records lies on overflow pages.
    ///
    /// - Parameters:
    ///   - bytes: the whole page, as it is in the source.
    ///   - number: the page's.
    ///   - owner: of the page.
    ///   - copy: in the second pass, the copy whose overflow pages are patched; nil in the first.
    /// - Throws: what is damaged, or doesn't fit.
    @unsafe func patch(
        _ bytes: UnsafeMutableRawPointer, number: Int, _ owner: PatchedPages.Owner,
        overflowIn copy: DatabaseCopy? = nil
    ) throws(PageCopyError) {
        let tree = unsafe records.program.trees[owner.tree]
        let page = try unsafe self.page(bytes, number, tree, isLeaf: owner.isLeaf)
        let spill = tree.kind.spill(pageSize: pageSize)
        var last: Int64 = .min
        for index in 0..<page.cellCount {
            let cell: PayloadCell
            do throws(PageReadError) {
                cell = try PayloadCell(page, at: index, spill)
                guard coverage.mark(cell.start, length: cell.size) else { throw PageReadError(.overlap, page: number) }
                if index > 0, tree.kind == .table, cell.rowid <= last {
                    throw PageReadError(.rowidOutOfOrder, page: number, value: cell.rowid)
                }
            } catch {
                throw .source(error)
            }
            last = cell.rowid
            do throws(RecordPatcher.Misfit) {
                let record = unsafe bytes + cell.localStart
                try unsafe records.choose(record, available: cell.localLength, length: cell.length, tree)
                if copy == nil {
                    unsafe records.apply(to: record, tree)
                    records.count(tree)
                }
            } catch {
                guard case .isLonger(let needed) = error else { throw Self.misfit(error, tree, page, cell) }
                try unsafe patchLong(cell, of: page, bytes, tree, needed: needed, copy)
            }
        }
        do throws(PageReadError) {
            try coverage.finish(page)
        } catch {
            throw .source(error)
        }
    }

    @unsafe private func page(
        _ bytes: UnsafeMutableRawPointer, _ number: Int, _ tree: PatchProgram.Tree, isLeaf: Bool
    ) throws(PageCopyError) -> TreePage {
        do throws(PageReadError) {
            let page = try unsafe TreePage(bytes, number: number, usable: pageSize)
            guard page.kind.tree == tree.kind else {
                throw PageReadError(.badKind, page: number, value: Int64(page.kind.rawValue))
            }
            guard page.kind.isLeaf == isLeaf else { throw PageReadError(.unequalDepth, page: number) }
            coverage.begin()
            return page
        } catch {
            throw .source(error)
        }
    }

    /// A record some of whose integers lie on overflow pages.
    @unsafe private func patchLong(
        _ cell: PayloadCell, of page: TreePage, _ bytes: UnsafeMutableRawPointer, _ tree: PatchProgram.Tree,
        needed: Int, _ copy: DatabaseCopy?
    ) throws(PageCopyError) {
        prefix.begin(cell, of: page)
        var needed = needed
        while true {
            do throws(PageReadError) {
                try prefix.extend(to: needed)
            } catch {
                throw .source(error)
            }
            do throws(RecordPatcher.Misfit) {
                let bytes = prefix.bytes
                try unsafe bytes.span.bytes.withUnsafeBytes { (record) throws(RecordPatcher.Misfit) in
                    guard let start = record.baseAddress else { return }
                    try unsafe records.choose(
                        start, available: min(record.count, cell.length), length: cell.length, tree)
                }
                break
            } catch {
                // Each time more: what is asked for isn't there yet.
                guard case .isLonger(let more) = error else { throw Self.misfit(error, tree, page, cell) }
                needed = more
            }
        }
        if copy == nil { records.count(tree, isLong: true) }
        for byte in records.apply(to: prefix, tree).joined() {
            if let place = prefix.place(ofByte: byte) {
                try copy?.write(prefix.bytes[byte], at: place)
            } else if copy == nil {
                unsafe bytes.storeBytes(of: prefix.bytes[byte], toByteOffset: cell.localStart + byte, as: UInt8.self)
            }
        }
    }

    private static func misfit(
        _ error: RecordPatcher.Misfit, _ tree: PatchProgram.Tree, _ page: TreePage, _ cell: PayloadCell
    ) -> PageCopyError {
        let (code, column, value): (PatchError.Code, Int, Int64?) =
            switch error {
            case .badRecord(let column): (.badRecord, column, nil)
            case .unknownValue(let column, let value): (.unknownValue, column, value)
            case .tooFar(let column): (.tooFar, column, nil)
            case .isLonger: preconditionFailure("more of the record is read first")
            }
        return .record(
            PatchError(
                code, page: page.number, root: tree.root, rowid: tree.kind == .table ? cell.rowid : nil, column: column,
                value: value))
    }
}
