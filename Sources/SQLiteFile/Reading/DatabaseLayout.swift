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

    /// - Parameters:
    ///   - firstBytes: the file's first 101 bytes, or what it has of them.
    ///   - fileLength: bytes of the whole file.
    /// - Throws: why statements must read it.
    package init(firstBytes: [UInt8], fileLength: Int64) throws(SourceRefusal) {
        guard let header = DatabaseHeader(firstBytes), firstBytes.count > DatabaseHeader.length else {
            throw .notADatabase
        }
        guard header.hasKnownVersions, header.hasKnownFractions else { throw .unknownFormat }
        guard header.reservedBytes == 0 else { throw .reservedBytes(header.reservedBytes) }
        // A database without a table has neither a schema format nor an encoding yet.
        guard header.textEncoding == .utf8 || firstBytes[.textEncoding] == 0 else { throw .notUTF8 }
        guard let pages = header.pageCount else { throw .unknownPageCount }
        let present = Int(fileLength / Int64(header.pageSize))
        guard pages <= present else { throw .truncated(pages: pages, present: present) }
        guard fileLength % Int64(header.pageSize) == 0 else { throw .partialPage }
        let kind = TreePage.Kind(rawValue: firstBytes[DatabaseHeader.length])
        guard kind == .tableLeaf || kind == .tableInterior else { throw .noSchema }
        self.init(header, pageCount: pages)
    }

    /// The layout of a file that is being built: its header doesn't count all pages yet.
    ///
    /// - Parameters:
    ///   - layout: as the header says.
    ///   - pageCount: pages from the first on that are written; those of `layout` are among them.
    package init(extending layout: DatabaseLayout, pageCount: Int) {
        precondition(pageCount >= layout.pageCount, "a file that is being built doesn't shrink")
        self.init(layout.header, pageCount: pageCount)
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
