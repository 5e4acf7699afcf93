/// The beginning of a payload that goes on in overflow pages, as far as it is needed: rare, so that it is simple rather
/// than fast.
@safe
final class RecordPrefix {
    private let file: PageFile
    private let plan: CopyPlan
    private(set) var bytes: [UInt8] = []
    /// Overflow pages that were read, in their order, and the one after them; 0 for none.
    private var pages: [Int] = []
    private var next = 0
    private var localLength = 0
    /// Number of the page with the cell.
    private var holder = 0
    private let page: UnsafeMutableRawPointer

    init(_ file: PageFile, _ plan: CopyPlan) {
        self.file = file
        self.plan = plan
        unsafe page = .allocate(byteCount: file.layout.pageSize, alignment: 16)
    }

    deinit {
        unsafe page.deallocate()
    }

    private var bytesPerPage: Int { file.layout.usableSize - 4 }

    /// Begins with the local part.
    func begin(_ cell: PayloadCell, of page: TreePage) {
        localLength = cell.localLength
        holder = page.number
        let local = unsafe UnsafeRawBufferPointer(start: page.start + cell.localStart, count: cell.localLength)
        unsafe bytes = Array(local)
        pages.removeAll(keepingCapacity: true)
        next = page.word32(cell.localStart + cell.localLength)
    }

    /// Reads overflow pages until there are `count` bytes; the payload has as many.
    ///
    /// - Throws: what is damaged: `.usedTwice` also for a page that is free or part of a patched tree.
    func extend(to count: Int) throws(PageReadError) {
        while bytes.count < count {
            let number = next
            let before = pages.last ?? holder
            if number == 0 { throw PageReadError(.chainTooShort, page: before) }
            guard file.layout.mayHoldContent(number) else {
                throw PageReadError(.badPageNumber, page: before, value: Int64(number))
            }
            guard !plan.freed.pages.contains(number), !plan.patched.contains(number) else {
                throw PageReadError(.usedTwice, page: number)
            }
            try unsafe file.read(number, into: page)
            pages.append(number)
            next = unsafe Int(UInt32(bigEndian: page.loadUnaligned(as: UInt32.self)))
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: page + 4, count: bytesPerPage))
        }
    }

    /// Overwrites an integer.
    func overwrite(_ type: SerialType, at offset: Int, with value: Int64) {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unsafe type.overwrite(start + offset, with: value) }
        }
    }

    /// Where a byte of the payload lies in the file; nil where it is in the cell.
    func place(ofByte offset: Int) -> Int64? {
        guard offset >= localLength else { return nil }
        let (index, rest) = (offset - localLength).quotientAndRemainder(dividingBy: bytesPerPage)
        return file.layout.offset(of: pages[index]) + 4 + Int64(rest)
    }
}
