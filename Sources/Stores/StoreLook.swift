import CausewayPlatform
import CausewaySQLiteFile

/// What a store's files show without a lock: other programs may write meanwhile.
struct StoreLook: Hashable {
    let status: FileStatus
    /// The first bytes of the main file; as many as a header has, or as there are.
    let head: [UInt8]
    let walBytes: Int64
    private let journalBytes: Int64

    /// Milliseconds between two looks, and the most looks: a writer is between two states for microseconds.
    private static let interval: UInt32 = 20
    private static let attempts = 50

    private init(_ location: StoreLocation) throws(EngineError) {
        let path = location.path
        (status, head, walBytes, journalBytes) = try EngineError.reading(path) {
            let status = try Files.status(of: path)
            guard status.kind == .regular else {
                throw EngineError(
                    .missing, "\(path): not a file",
                    remedy: "give the path of the store's main file, for example Store.sqlite")
            }
            let head = try Files.readPrefix(of: path, length: DatabaseHeader.length)
            let walBytes = try Files.statusIfExists(location.wal)?.size ?? 0
            return (status, head, walBytes, try Files.statusIfExists(location.journal)?.size ?? 0)
        }
    }

    /// A look that isn't in the middle of another program's commit or checkpoint.
    ///
    /// SQLite writes the first page, with the new length, before the file has it, and removes the `-wal` or the journal
    /// afterwards: the parts of a look may be from before and after that. A truncated file stays truncated.
    ///
    /// - Throws: why the files can't be read; `.busy` where they never stay the same.
    static func settled(_ location: StoreLocation) throws(EngineError) -> StoreLook {
        var look = try StoreLook(location)
        for _ in 0..<attempts {
            guard look.missingLength != nil else { return look }
            Pause.rest(milliseconds: interval)
            let again = try StoreLook(location)
            if again == look { return look }
            look = again
        }
        throw EngineError(
            .busy, "\(location.path): the store is in use", remedy: "close the application that uses it, then run again"
        )
    }

    /// The file's length according to its header, if the file is shorter: nil where all are there, where there is no
    /// header, and while there is a `-wal` or a journal: it may hold pages, and then the main file's own length says
    /// nothing.
    var missingLength: Int64? {
        guard walBytes == 0, journalBytes == 0, let header = DatabaseHeader(head), let pages = header.pageCount
        else { return nil }
        let length = Int64(pages) * Int64(header.pageSize)
        return length > status.size ? length : nil
    }
}
