package import CausewayObjects
import CausewayPlatform
import CausewaySQLite

/// Values of attributes that allow external storage (InsideStoreFormat §4.3): one prefix byte, then the data, or a
/// reference to a file beside the store.
package struct ExternalValues: Sendable {
    /// `01`: the data follows.
    package static let inlinePrefix: UInt8 = 1
    /// `02`: the name of a file follows, 36 characters and a NUL.
    package static let referencePrefix: UInt8 = 2
    /// Bytes of a reference.
    package static let referenceLength = 38
    /// Most bytes of a file that becomes a value: SQLite's default limit for one.
    static let maximumContent = 1_000_000_000

    /// `.<Name>_SUPPORT/_EXTERNAL_DATA` beside the store.
    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// The data that a stored value stands for.
    package func content(of value: [UInt8], title: String) throws(EngineError) -> [UInt8] {
        switch value.first {
        case Self.inlinePrefix: return Array(value.dropFirst())
        case Self.referencePrefix:
            guard let name = Self.fileName(in: value) else {
                throw EngineError(.sourceData, "\(title): a reference to external data is malformed")
            }
            do {
                return try Files.readFile(directory + "/" + name, limit: Self.maximumContent, followsLinks: false)
            } catch {
                throw EngineError(
                    Self.isOfSystem(error) ? .inputOutput : .sourceData,
                    "\(title): the external data \(name) can't be read: \(error.message)",
                    remedy: "put the store's support folder back beside the store")
            }
        default:
            throw EngineError(.sourceData, "\(title): an externally stored value has an unknown first byte")
        }
    }

    /// Why a reference can't be followed.
    package enum Trouble: Hashable {
        case malformed, missing, notAFile, unreadable

        /// A clause about the row, or rows, that have it.
        package func complaint(in folder: String) -> String {
            switch self {
            case .malformed: "holds neither data nor a reference in the form of external storage"
            case .missing: "refers to a file that isn't in \(folder)"
            case .notAFile: "refers to a link or a folder instead of a file in \(folder)"
            case .unreadable: "refers to a file in \(folder) that can't be read"
            }
        }
    }

    /// What is wrong with a reference; nil where its file can be read.
    package func trouble(with value: [UInt8]) throws(EngineError) -> Trouble? {
        guard let name = Self.fileName(in: value) else { return .malformed }
        return try trouble(withFile: name)
    }

    package func trouble(withFile name: String) throws(EngineError) -> Trouble? {
        let path = directory + "/" + name
        do {
            guard let status = try Files.statusIfExists(path) else { return .missing }
            guard status.kind == .regular else { return .notAFile }
            return Files.mayRead(path) ? nil : .unreadable
        } catch {
            switch error.code {
            case .permissionDenied: return .unreadable
            case .symbolicLink: return .notAFile
            default: throw EngineError(.inputOutput, "external data: \(error.path): \(error.message)")
            }
        }
    }

    /// The same for objects: their reader tells the system's failures from the row's.
    package func content(ofProperty value: [UInt8]) throws(ObjectError) -> [UInt8] {
        do throws(EngineError) {
            return try content(of: value, title: "an externally stored value")
        } catch {
            throw ObjectError(
                .store, error.message,
                cause: error.kind == .inputOutput ? SQLiteError(code: .ioErrorRead, message: error.message) : nil)
        }
    }

    /// Whether a failure is the system's, not the reference's or the file's.
    private static func isOfSystem(_ error: FileError) -> Bool {
        switch error.code {
        case .io, .tooManyOpenFiles, .other, .busy: true
        default: false
        }
    }

    /// The file name in a reference; nil where it is malformed. Only the characters of a UUID pass: a name from a store
    /// must not lead out of the folder.
    package static func fileName(in value: [UInt8]) -> String? {
        guard value.count == referenceLength, value[0] == referencePrefix, value[37] == 0 else { return nil }
        let name = value[1..<37]
        guard isFileName(name) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether a name is as Core Data names its files: the 36 characters of a UUID.
    static func isFileName(_ name: some Collection<UInt8>) -> Bool {
        name.count == 36
            && name.allSatisfy {
                ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
                    || ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "F"))
                    || $0 == UInt8(ascii: "-")
            }
    }
}
