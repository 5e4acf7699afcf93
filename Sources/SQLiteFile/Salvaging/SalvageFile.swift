package import CausewayPlatform

/// A database file that may be damaged anywhere: its pages by number, as far as it has them, those of its `-wal` first.
///
/// Nothing is taken for granted: a header that can't be read gives way to what the pages themselves look like. What
/// can't be read is nil, never an error. Nobody may write to the file meanwhile.
package final class SalvageFile {
    package let pageSize: Int
    /// Pages that the file and its `-wal` have; the last may be cut.
    package let pageCount: Int
    /// nil where it can't be read.
    package let header: DatabaseHeader?
    let encoding: DatabaseHeader.TextEncoding
    let usableSize: Int
    /// Room for a table's columns, as many as this project allows.
    let reader = RecordReader(capacity: 2_000)
    private let file: OpenFile
    private let newer: LoggedPages?
    /// Asked now and then while pages are read; false stops: no page can be read from then on.
    package var goesOn: () -> Bool = { true }
    /// Whether that has happened.
    package private(set) var isStopped = false
    private var pagesRead = 0
    /// Some milliseconds.
    private static let pagesBetweenLooks = 256

    /// - Parameters:
    ///   - path: of the database.
    ///   - wal: of its `-wal`, which need not exist.
    /// - Throws: where one of them can't be opened.
    package init(_ path: String, wal: String) throws(FileError) {
        let file = try OpenFile(path, mode: .read)
        let length = try file.status().size
        let hasLog = try (Files.statusIfExists(wal)?.size ?? 0) > 0
        let own = DatabaseHeader(try file.prefix(DatabaseHeader.length))
        let size = try Self.size(file, length, header: own?.pageSize, wal: hasLog ? wal : nil)
        let newer = hasLog ? try LoggedPages(OpenFile(wal, mode: .read), pageSize: size) : nil
        let newest = try newer?.firstBytes(DatabaseHeader.length).flatMap { DatabaseHeader($0) } ?? own
        let header = newest?.pageSize == size ? newest : nil
        pageSize = size
        pageCount = max(Int((length + Int64(size) - 1) / Int64(size)), newer?.pageCount ?? 0)
        self.header = header
        encoding = header?.textEncoding ?? .utf8
        let reserved = header?.reservedBytes ?? 0
        // SQLite leaves at least 480 bytes of a page to content.
        usableSize = size - reserved >= 480 ? size - reserved : size
        self.newer = newer
        self.file = file
    }

    /// The size of pages: as the header says, unless the pages tell otherwise; without it that of the `-wal`, or the
    /// one with which most pages look like leaves of tables.
    private static func size(
        _ file: borrowing OpenFile, _ length: Int64, header: Int?, wal: String?
    ) throws(FileError) -> Int {
        if header == nil, let wal {
            let bytes = try Files.readPrefix(of: wal, length: 12)
            let size = bytes.count == 12 ? bytes[8..<12].reduce(0) { $0 << 8 | Int($1) } : 0
            if size >= 512, size <= 65_536, size & (size - 1) == 0 { return size }
        }
        let bytes = try file.prefix(Int(min(length, 4 << 20)))
        var best = (size: header ?? 4_096, count: header.map { leaves(in: bytes, $0) } ?? 0)
        if header != nil {
            // At another size than the true one a few pages may look like leaves by chance.
            best.count = 2 * best.count + 1
        }
        for size in [4_096, 1_024, 2_048, 8_192, 16_384, 32_768, 65_536, 512] where size != header {
            // At a larger size than the true one only some leaves are where a page begins; at a smaller one their
            // cells, which fill a page from its end, lie outside.
            let count = leaves(in: bytes, size)
            if count > best.count { best = (size, count) }
        }
        return best.size
    }

    /// Pages of this size that look like leaves of tables, without the first.
    private static func leaves(in bytes: [UInt8], _ size: Int) -> Int {
        stride(from: size, through: bytes.count - size, by: size).count { start in
            bytes[start] == TreePage.Kind.tableLeaf.rawValue
                && SalvagePage(Array(bytes[start..<start + size]), number: 2, size: size).looksLikeLeaf
        }
    }

    /// A page's bytes, fewer where the file ends inside of it; nil where it has none of them, or they can't be read.
    func bytes(_ number: Int) -> [UInt8]? {
        guard number >= 1, number <= pageCount else { return nil }
        guard mayRead() else { return nil }
        let size = pageSize
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { unsafe buffer.deallocate() }
        do throws(FileError) {
            if let newer, try unsafe newer.read(number, into: buffer) { return unsafe Array(buffer) }
            let count = try unsafe file.read(into: buffer, at: Int64(number - 1) * Int64(size))
            return unsafe count > 0 ? Array(buffer.prefix(count)) : nil
        } catch {
            return nil
        }
    }

    private func mayRead() -> Bool {
        pagesRead += 1
        if !isStopped, pagesRead.isMultiple(of: Self.pagesBetweenLooks), !goesOn() { isStopped = true }
        return !isStopped
    }

    /// A page; nil where it can't be read.
    package func page(_ number: Int) -> SalvagePage? {
        bytes(number).map { SalvagePage($0, number: number, size: pageSize) }
    }

    /// Pages of the `-wal` that SQLite doesn't read, because a frame before them is damaged.
    package var unreachedPages: Int { newer?.unreachedPages ?? 0 }

    /// One of these pages, the newest first; nil where it can't be read.
    package func unreachedPage(_ place: Int) -> SalvagePage? {
        let size = pageSize
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { unsafe buffer.deallocate() }
        guard mayRead(), let newer, (try? unsafe newer.read(unreached: place, into: buffer)) == true else { return nil }
        // Its number says nothing here, but that it isn't the first page.
        return SalvagePage(unsafe Array(buffer), number: 2, size: size)
    }

    /// The free pages, by the list of them and by the pointer map, as far as both can be read.
    package func freePages() -> PageSet {
        var free = PageSet(pageCount: pageCount)
        guard let header else { return free }
        let numbering = PageNumbering(header)
        func word(_ page: [UInt8], _ index: Int) -> Int {
            page[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        var trunk = header.firstFreelistTrunk
        while trunk >= 2, trunk <= pageCount, !free.contains(trunk), let page = bytes(trunk), page.count == pageSize {
            free.insert(trunk)
            for leaf in 0..<min(word(page, 1), pageSize / 4 - 2) {
                let number = word(page, leaf + 2)
                if number >= 2, number <= pageCount { free.insert(number) }
            }
            trunk = word(page, 0)
        }
        guard numbering.isAutoVacuum else { return free }
        var map: (number: Int, bytes: [UInt8]?) = (0, nil)
        for number in 2...max(2, pageCount) where !numbering.isOwn(number) {
            let place = numbering.mapPage(of: number)
            if place != map.number { map = (place, bytes(place)) }
            let offset = (number - place - 1) * PageNumbering.mapEntryLength
            if let bytes = map.bytes, offset + 1 <= bytes.count, bytes[offset] == Self.freeMark { free.insert(number) }
        }
        return free
    }

    /// The pointer map's mark of a free page (PTRMAP_FREEPAGE).
    private static let freeMark: UInt8 = 2
}
