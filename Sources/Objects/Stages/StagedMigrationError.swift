/// Why stages can't be used: their order is wrong, or the store's version isn't in it.
public struct StagedMigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. New kinds may come: treat an unknown one as a failure.
    public struct Code: Hashable, Sendable {
        /// The code of Core Data's error in `NSCocoaErrorDomain`; nil where Core Data raises an exception instead.
        public let coreDataCode: Int?
        private let name: String

        private init(_ name: String, _ coreDataCode: Int? = nil) {
            self.name = name
            self.coreDataCode = coreDataCode
        }

        /// A version occurs more than once in the order.
        public static let duplicateVersions = Code("duplicateVersions")
        /// A custom stage begins and ends with the same version.
        public static let equalEnds = Code("equalEnds")
        /// There is no stage, or a stage without a version.
        public static let empty = Code("empty")
        /// A reference's checksum isn't that of the model of its name.
        public static let checksumMismatch = Code("checksumMismatch")
        /// A version without a model or a stage: NSManagedObjectModelReferenceNotFoundError.
        public static let modelReferenceNotFound = Code("modelReferenceNotFound", 134_504)
        /// The store's version can't be read: NSStagedMigrationFrameworkVersionMismatchError.
        public static let frameworkVersionMismatch = Code("frameworkVersionMismatch", 134_505)
        /// The target comes before the store's version: NSStagedMigrationBackwardMigrationError.
        public static let backwardMigration = Code("backwardMigration", 134_506)
    }

    /// What kind of failure it is.
    public let code: Code
    /// What went wrong.
    public let message: String
    /// What to do about it.
    public let remedy: String

    package init(_ code: Code, _ message: String, remedy: String) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    /// The message with Core Data's code, and what to do.
    public var description: String { "\(summary); \(remedy)" }

    /// The message with Core Data's code.
    package var summary: String {
        code.coreDataCode.map { "\(message) (Core Data's error \($0))" } ?? message
    }
}
