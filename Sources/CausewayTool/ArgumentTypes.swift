public import ArgumentParser
public import Causeway

/// A number of bytes on the command line: `65536`, `512K`, `1M`, `2G`, powers of 1,024.
struct ByteCount: ExpressibleByArgument, Hashable, CustomStringConvertible {
    let bytes: Int

    init(bytes: Int) {
        self.bytes = bytes
    }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let shift: Int
        switch argument.dropFirst(digits.count).uppercased() {
        case "", "B": shift = 0
        case "K", "KB", "KIB": shift = 10
        case "M", "MB", "MIB": shift = 20
        case "G", "GB", "GIB": shift = 30
        default: return nil
        }
        guard let number = Int(digits) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !overflow else { return nil }
        self.bytes = bytes
    }

    var description: String {
        for (shift, suffix) in [(30, "G"), (20, "M"), (10, "K")] where bytes > 0 && bytes.isMultiple(of: 1 << shift) {
            return "\(bytes >> shift)\(suffix)"
        }
        return String(bytes)
    }
}

/// `stop`, `default`, `reject`.
extension OnViolation: ExpressibleByArgument {}

extension EngineChoice: ExpressibleByArgument {}

/// `none`, `quick`, `full`.
extension MigrationOptions.Verification: ExpressibleByArgument {}

/// `fail`, `quarantine`.
extension MigrationOptions.BadRows: ExpressibleByArgument {}

/// `refuse`, `carry`.
extension MigrationOptions.CloudKit: ExpressibleByArgument {}

/// `jsonl`, `csv`, `sqlite`.
extension ExportFormat: ExpressibleByArgument {}

/// `A=B`: version B follows version A.
struct VersionEdge: ExpressibleByArgument, Hashable {
    let from: String
    let to: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (from, to) = (parts[0], parts[1])
    }
}

/// `Entity=OldName`, `Entity.property=oldName`, or nothing after the sign.
struct ElementOrigin: ExpressibleByArgument, Hashable {
    let place: String
    let origin: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        (place, origin) = (parts[0], parts[1])
    }
}

extension [VersionEdge] {
    /// - Throws: `ValidationError` where two edges leave the same version.
    func edges() throws -> [String: String] {
        var result: [String: String] = [:]
        for edge in self {
            if let other = result[edge.from], other != edge.to {
                throw ValidationError(
                    "--next says that both \"\(other)\" and \"\(edge.to)\" follow \"\(edge.from)\"; give one of them.")
            }
            result[edge.from] = edge.to
        }
        return result
    }
}
