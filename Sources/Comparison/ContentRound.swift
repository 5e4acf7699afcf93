import CausewaySQLite

/// One round of a comparison by content: every row's next digest, from its own and those at the other ends of its
/// links.
struct ContentRound {
    /// Reads rows and links once, both in the order of the rows.
    static func run(_ work: borrowing ContentWork, _ insert: inout Statement, _ sums: inout LabelSums) throws {
        var rows = try work.rows()
        var links = try work.links()
        var hasLink = try links.step()
        var buffer = ContentBuffer()
        while try rows.step() {
            let (table, key) = (rows.int64(at: 0), rows.int64(at: 1))
            let own = ContentDigest(rows.bytes(at: 3) ?? [])
            var ends = ContentDigest.zero
            while hasLink, (links.int64(at: 0), links.int64(at: 1)) < (table, key) { hasLink = try links.step() }
            while hasLink, links.int64(at: 0) == table, links.int64(at: 1) == key {
                let label = links.int64(at: 2)
                buffer.clear()
                for column in 2..<5 { buffer.add(links, column) }
                ends.add(buffer.digest)
                // With the row's own digest: which rows a relationship joins.
                buffer.add(own)
                sums.add(buffer.digest, at: Int(label), isFirst: table & 1 == 0)
                hasLink = try links.step()
            }
            buffer.clear()
            buffer.add(own)
            buffer.add(ends)
            for column in 0..<3 { try insert.bind(column: column, of: rows, at: column + 1) }
            try insert.bind(buffer.digest.bytes, at: 4)
            try insert.run()
        }
    }
}

/// By label, the links of both stores as sums of digests.
struct LabelSums {
    private var a: [ContentDigest]
    private var b: [ContentDigest]

    init(_ count: Int) {
        a = Array(repeating: .zero, count: count)
        b = a
    }

    mutating func add(_ digest: ContentDigest, at label: Int, isFirst: Bool) {
        if isFirst { a[label].add(digest) } else { b[label].add(digest) }
    }

    func differ(at label: Int) -> Bool { a[label] != b[label] }
}
