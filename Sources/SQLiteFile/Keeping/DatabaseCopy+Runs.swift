internal import CausewayPlatform

/// A chunk's pages in runs: what is cleared, what is copied by the system, and what goes through memory.
extension DatabaseCopy {
    /// Bytes of a run that goes through memory.
    private static let runLength = 1 << 20

    func copy(_ pages: Range<Int>, _ maker: CopiedPages) throws(PageCopyError) {
        let room = max(1, Self.runLength / source.layout.pageSize)
        var page = pages.lowerBound
        while page < pages.upperBound {
            let role = maker.role(of: page)
            var end = page + 1
            switch role {
            case .free:
                while end < pages.upperBound, maker.role(of: end) == .free { end += 1 }
                // A new file holds zeros there.
                if isClone { try clear(page..<end) }
            case .kept, .made:
                let limit = min(pages.upperBound, page + room)
                var hasMade = role == .made
                while end < limit {
                    let next = maker.role(of: end)
                    // In a clone the kept pages are there already.
                    if next == .free || isClone && next != role { break }
                    if next == .made { hasMade = true }
                    end += 1
                }
                if hasMade {
                    try make(page..<end, maker)
                } else if !isClone {
                    try keep(page..<end)
                }
            }
            page = end
        }
    }

    func bytes(_ pages: Range<Int>) -> Range<Int64> {
        source.layout.offset(of: pages.lowerBound)..<source.layout.offset(of: pages.upperBound)
    }

    private func clear(_ pages: Range<Int>) throws(PageCopyError) {
        do throws(FileError) {
            try target.clear(bytes(pages))
        } catch {
            throw .copy(error)
        }
    }

    private func keep(_ pages: Range<Int>) throws(PageCopyError) {
        let copied: Int64
        do throws(FileError) {
            copied = try source.copy(bytes(pages), to: target)
        } catch {
            throw .copy(error)
        }
        let whole = Int(copied / Int64(source.layout.pageSize))
        if whole < pages.count { throw .source(PageReadError(.missing, page: pages.lowerBound + whole)) }
    }

    /// Reads a run, changes what is to change, and writes it.
    private func make(_ pages: Range<Int>, _ maker: CopiedPages) throws(PageCopyError) {
        let pageSize = source.layout.pageSize
        let buffer = unsafe maker.memory(for: pages.count)
        do throws(PageReadError) {
            guard let start = buffer.baseAddress else { return }
            try unsafe source.read(pages.lowerBound, count: pages.count, into: start)
        } catch {
            throw .source(error)
        }
        for page in pages where maker.role(of: page) == .made {
            let offset = (page - pages.lowerBound) * pageSize
            guard let start = buffer.baseAddress else { return }
            try unsafe maker.make(page, in: start + offset)
        }
        do throws(FileError) {
            try unsafe target.write(UnsafeRawBufferPointer(buffer), at: source.layout.offset(of: pages.lowerBound))
        } catch {
            throw .copy(error)
        }
    }
}
