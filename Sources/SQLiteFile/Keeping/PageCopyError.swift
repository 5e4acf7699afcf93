package import CausewayPlatform

/// Why a page couldn't be copied.
package enum PageCopyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The source is damaged, or can't be read.
    case source(PageReadError)
    /// The source's records aren't what the patch is for.
    case record(PatchError)
    /// The copy can't be written, made or opened.
    case copy(FileError)
    /// The copy isn't the one that was begun: it has another length, or another first page.
    case otherCopy(path: String)

    package var description: String {
        switch self {
        case .source(let error): error.description
        case .record(let error): error.description
        case .copy(let error): error.description
        case .otherCopy(let path): "\(path): isn't the copy that was begun: remove it and begin anew"
        }
    }
}
