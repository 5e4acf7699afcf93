package import CausewayPlatform

/// What a database file's pages are, as its header says: their size, their number, and which can't belong to a tree.
package struct DatabaseLayout: Hashable, Sendable {
    package let header: DatabaseHeader
    package let pageSize: Int
    /// Bytes of a page that hold content: all, or all but the reserved ones.
    package let usableSize: Int
    /// Pages that belong to the database. The file may have more, which SQLite ignores.
    package let pageCount: Int
    /// Which pages are the file's own.
    let numbering: PageNumbering

    /// Audits a file: whether its pages can be read directly.
    ///
    /// What is odd but can be read is no reason to refuse: pages after the last one that the header counts, a freelist,
    /// WAL mode. The caller sees to it that nobody writes, and that no `-wal` or `-journal` holds newer pages.
    ///
    /// - Parameters:
    ///   - file: the database.
    ///   - newer: pages that count instead of the file's.
    /// - Throws: why statements must read it.
    package init(of file: borrowing OpenFile, newer: LoggedPages? = nil) throws(SourceRefusal) {
        let bytes: [UInt8]
        var length: Int64
        do throws(FileError) {
            length = try file.status().size
            let own = try file.prefix(DatabaseHeader.length + 1)
            bytes = try newer?.firstBytes(DatabaseHeader.length + 1) ?? own
            if let newer, let header = DatabaseHeader(bytes) {
                length = max(length, Int64(newer.pageCount) * Int64(header.pageSize))
            }
        } catch {
            throw .unreadable(error)
        }
        try self.init(firstBytes: bytes, fileLength: length)
    }

    /// The layout of a file that is being built. How many pages its header counts says nothing about it: until the file
    /// is whole it counts those that SQLite has made; and where an earlier run made it whole and couldn't say so any
    /// more, it counts pages that are still to be written again. After a torn write the file may end within a page.
    ///
    /// - Parameters:
    ///   - file: the database.
    ///   - pageCount: pages from the first on that are written.
    /// - Throws: why its pages can't be read.
    package init(building file: borrowing OpenFile, pageCount: Int) throws(SourceRefusal) {
        let bytes: [UInt8]
        let length: Int64
        do throws(FileError) {
            length = try file.status().size
            bytes = try file.prefix(DatabaseHeader.length + 1)
        } catch {
            throw .unreadable(error)
        }
        let header = try Self.header(bytes)
        let present = Int(length / Int64(header.pageSize))
        guard pageCount <= present else { throw .truncated(pages: pageCount, present: present) }
        self.init(header, pageCount: pageCount)
    }

    /// - Parameters:
    ///   - firstBytes: the file's first 101 bytes, or what it has of them.
    ///   - fileLength: bytes of the whole file.
    /// - Throws: why statements must read it.
    package init(firstBytes: [UInt8], fileLength: Int64) throws(SourceRefusal) {
        let header = try Self.header(firstBytes)
        guard let pages = header.pageCount else { throw .unknownPageCount }
        let present = Int(fileLength / Int64(header.pageSize))
        guard pages <= present else { throw .truncated(pages: pages, present: present) }
        guard fileLength % Int64(header.pageSize) == 0 else { throw .partialPage }
        let kind = TreePage.Kind(rawValue: firstBytes[DatabaseHeader.length])
        guard kind == .tableLeaf || kind == .tableInterior else { throw .noSchema }
        self.init(header, pageCount: pages)
    }

    /// The header of a database whose pages can be read, whatever it says of their number.
    private static func header(_ firstBytes: [UInt8]) throws(SourceRefusal) -> DatabaseHeader {
        guard let header = DatabaseHeader(firstBytes), firstBytes.count > DatabaseHeader.length else {
            throw .notADatabase
        }
        guard header.hasKnownVersions, header.hasKnownFractions else { throw .unknownFormat }
        guard header.reservedBytes == 0 else { throw .reservedBytes(header.reservedBytes) }
        // A database without a table has neither a schema format nor an encoding yet.
        guard header.textEncoding == .utf8 || firstBytes[.textEncoding] == 0 else { throw .notUTF8 }
        return header
    }

    init(_ header: DatabaseHeader, pageCount: Int) {
        self.header = header
        self.pageCount = pageCount
        pageSize = header.pageSize
        usableSize = header.pageSize - header.reservedBytes
        numbering = PageNumbering(header)
    }

    /// Where a page begins in the file.
    package func offset(of page: Int) -> Int64 {
        Int64(page - 1) * Int64(pageSize)
    }

    /// The page that holds the lock bytes; SQLite never uses it.
    package var pendingBytePage: Int { numbering.pendingBytePage }

    package var hasPointerMaps: Bool { numbering.isAutoVacuum }

    /// Whether a page holds only back pointers for auto_vacuum.
    package func isPointerMap(_ page: Int) -> Bool {
        numbering.isMapPage(page)
    }

    /// Whether a page may be a child in a tree, or part of an overflow chain.
    package func mayHoldContent(_ page: Int) -> Bool {
        page >= 2 && page <= pageCount && !numbering.isOwn(page)
    }
}
