package import CausewayPlatform

/// A b-tree that can't be built: the rows, the new file or the disk don't allow it.
package struct PageBuildError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// Rows whose rowids don't ascend.
        case outOfOrder
        /// A payload over SQLite's limit of 2³¹−1 bytes.
        case tooLong
        /// A file that can't be extended page by page.
        case unsuitable
        /// A state that doesn't fit its file: another file, or a damaged log.
        case badState
        /// More pages than a database file can have.
        case full
        /// The system couldn't read or write; `cause` says why.
        case file
    }

    package let code: Code
    /// Number of the page, from 1; 0 where no page is concerned.
    package let page: Int
    /// What is wrong and what to do.
    package let message: String
    package let cause: FileError?

    init(code: Code, page: Int = 0, message: String, cause: FileError? = nil) {
        self.code = code
        self.page = page
        self.message = message
        self.cause = cause
    }

    init(_ error: FileError, page: Int = 0) {
        self.init(code: .file, page: page, message: error.description, cause: error)
    }

    static let repair = "the table is damaged: \(ErrorText.repair)"

    static var payloadTooLong: PageBuildError {
        PageBuildError(code: .tooLong, message: "a row \(ErrorText.tooLong): shorten its values")
    }

    static func badState(page: Int) -> PageBuildError {
        PageBuildError(
            code: .badState, page: page,
            message: "the progress noted for the new file is damaged or of another file: remove both and build it anew")
    }

    package var description: String { page == 0 ? message : "\(message) (page \(page))" }
}
