internal import CausewayPlatform

/// The header of a new database file, as far as its writer must know and change it
/// (https://www.sqlite.org/fileformat2.html#the_database_header).
struct NewFileHeader {
    private(set) var bytes: [UInt8]
    private let header: DatabaseHeader

    /// - Throws: `.unsuitable` for a file that isn't a database or can't be extended page by page.
    init(of file: borrowing OpenFile) throws(PageBuildError) {
        bytes = [UInt8](repeating: 0, count: DatabaseHeader.length)
        let count = try file.read(into: &bytes, 0..<bytes.count, page: 1, pageSize: 512)
        guard count == bytes.count, let header = DatabaseHeader(bytes) else {
            throw Self.unsuitable("isn't an SQLite database")
        }
        self.header = header
        if header.isWAL || !header.hasKnownVersions { throw Self.unsuitable("is in WAL mode or of an unknown version") }
        if header.reservedBytes != 0 { throw Self.unsuitable("has bytes reserved at the end of its pages") }
    }

    static func unsuitable(_ reason: String) -> PageBuildError {
        PageBuildError(
            code: .unsuitable, message: "the new file \(reason), so its pages can't be built: use the statement engine")
    }

    private var numbering: PageNumbering { PageNumbering(header) }

    /// The state of a file that SQLite made and closed.
    func startingState(fileSize: Int64) throws(PageBuildError) -> DatabaseWriter.State {
        guard let count = header.pageCount, fileSize == Int64(count) * Int64(header.pageSize) else {
            throw Self.unsuitable("has another length than its header says")
        }
        return DatabaseWriter.State(
            pageSize: header.pageSize, isAutoVacuum: numbering.isAutoVacuum, nextPage: count + 1,
            changeCounter: header.changeCounter, firstFreelistTrunk: header.firstFreelistTrunk,
            freelistCount: header.freelistCount)
    }

    /// - Throws: `.badState` where a state isn't of this file.
    func check(_ state: DatabaseWriter.State) throws(PageBuildError) {
        let last = max(0, state.nextPage &- 1)
        guard state.pageSize == header.pageSize, state.isAutoVacuum == numbering.isAutoVacuum,
            (1...PageNumbering.largest).contains(last), !numbering.isOwn(last), state.nextFreePage >= 0,
            state.nextFreePage <= last + 1, state.firstFreelistTrunk >= 0, state.freelistCount >= 0
        else {
            throw PageBuildError.badState(page: 0)
        }
    }

    mutating func set(pageCount: Int, changeCounter: UInt32) {
        bytes[.changeCounter] = changeCounter
        bytes[.pageCount] = UInt32(truncatingIfNeeded: pageCount)
        // The page count is valid for this change counter; who wrote it last (at 96) stays SQLite.
        bytes[.versionValidFor] = changeCounter
    }

    mutating func setFreelist(first: Int, count: Int) {
        bytes[.firstFreelistTrunk] = UInt32(truncatingIfNeeded: first)
        bytes[.freelistCount] = UInt32(truncatingIfNeeded: count)
    }
}
