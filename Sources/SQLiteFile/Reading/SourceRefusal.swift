package import CausewayPlatform

/// Why a file's pages aren't read directly: its rows are then read by statements.
///
/// Not all of these are damage: SQLite reads most of such files.
package enum SourceRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(FileError)
    /// No header of SQLite's; an empty file too.
    case notADatabase
    /// Other version bytes, schema format or payload fractions than SQLite writes.
    case unknownFormat
    /// UTF-16, or an encoding that SQLite doesn't know.
    case notUTF8
    case reservedBytes(Int)
    /// The last writer, SQLite before 3.7.0, didn't keep the number of pages.
    case unknownPageCount
    /// The file has fewer whole pages than its header says.
    case truncated(pages: Int, present: Int)
    /// The file's length isn't a multiple of the page size.
    case partialPage
    /// The first page isn't the root of a table.
    case noSchema

    package var description: String {
        switch self {
        case .unreadable(let error): error.description
        case .notADatabase: "the file isn't an SQLite database"
        case .unknownFormat: "its header names a file format that SQLite 3 doesn't write"
        case .notUTF8: "its texts aren't stored in UTF-8"
        case .reservedBytes(let count): "it reserves \(count) bytes at the end of each page"
        case .unknownPageCount: "its header doesn't give the number of pages"
        case .truncated(let pages, let present):
            "its header says \(pages) pages, but the file has \(present)"
        case .partialPage: "the file's length isn't a multiple of its page size"
        case .noSchema: "its first page isn't the root of the schema table"
        }
    }
}
