import CausewaySQLite

/// The keys of a table's rows with each row's Z_ENT: two bytes a key, so that following a link needs no look-up in the
/// file.
///
/// Keys are kept in pages: Core Data counts from 1, so keys are dense. A table whose keys are so sparse that the pages
/// don't fit isn't held.
struct EntityKeys {
    /// Keys of a page: 8 KB.
    private static let pageKeys = 4_096
    /// Most pages of all tables held at a time: 128 MB, which is 67 million rows.
    static let maximumPages = 16_384
    /// Replaces numbers that no entity of the model has.
    private static let stranger = UInt16.max

    private var pages: [Int64: Int] = [:]
    private var numbers: [UInt16] = []

    /// nil where the keys don't fit into the pages that are left.
    init?(of table: String, in connection: borrowing Connection, pagesLeft: inout Int) throws(SQLiteError) {
        var statement = try connection.prepare("SELECT Z_PK, Z_ENT FROM \(try SQLIdentifier(table))")
        var (last, start) = (Int64.min, 0)
        while try statement.step() {
            let key = statement.int64(at: 0)
            let page = key >> 12
            if page != last {
                if let known = pages[page] {
                    start = known
                } else {
                    guard pages.count < pagesLeft else { return nil }
                    start = numbers.count
                    pages[page] = start
                    numbers += repeatElement(0, count: Self.pageKeys)
                }
                last = page
            }
            let number = statement.int64(at: 1)
            numbers[start + Int(key & 4_095)] =
                (1..<Int64(Self.stranger)).contains(number) ? UInt16(number) : Self.stranger
        }
        pagesLeft -= pages.count
    }

    /// The Z_ENT of the row; 0 where there is none.
    func number(of key: Int64) -> UInt16 {
        guard let start = pages[key >> 12] else { return 0 }
        return numbers[start + Int(key & 4_095)]
    }
}
