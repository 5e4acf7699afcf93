import CausewayCheckpoint
import CausewayEngine
import CausewayPlatform
import CausewayStores

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Records of a run in its work directory: JSON.
enum RecordChecks {
    /// In memory where /dev/shm exists: a fuzzer writes thousands of files a second.
    private static let folder = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"

    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        let isPlan = try record(bytes, PlanRecord.self)
        let isVerified = try record(bytes, VerifiedRecord.self)
        let isIntent = try record(bytes, SwapIntent.self)
        // Reading the folder costs a hundred times as much as decoding: done only for bytes that may be read.
        if isPlan || isVerified || isIntent { try workDirectory(bytes) }
        try json(bytes)
    }

    /// A record that can be read is written again, and that reads as the same record.
    ///
    /// - Returns: whether it can be read.
    private static func record<Record: Codable & Hashable & Sendable>(
        _ bytes: [UInt8], _ type: Record.Type
    ) throws(BrokenPromise) -> Bool {
        guard
            let record = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try JSONRecord.decode(bytes, as: type)
            })
        else { return false }
        let again = try BrokenPromise.unlessDone("a record of type \(type) isn't written and read") {
            () throws(CheckpointError) in
            // Escapes and numbers may be longer as we write them.
            let limit = JSONRecord.maximumBytes * 8
            return try JSONRecord.decode(JSONRecord.encode(record, limit: limit), as: type, limit: limit)
        }
        try BrokenPromise.unless(again == record, "a record of type \(type) that is written reads as another")
        return true
    }

    /// Writes the bytes as each record of a store's work directory, and reads that as `status` does.
    private static func workDirectory(_ bytes: [UInt8]) throws(BrokenPromise) {
        let own = "\(folder)/causeway-fuzz-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let work = own + "/.Store.sqlite.migration"
        let names = ["plan.json", "swap.json", "step-1.verified.json"]
        defer {
            // The operating system removes a folder that is left here.
            for name in names { _ = try? Files.unlink(work + "/" + name) }
            _ = try? Files.removeDirectory(work)
            _ = try? Files.removeDirectory(own)
        }
        try BrokenPromise.unlessDone("the harness can't write its files") { () throws(FileError) in
            try Files.makeDirectory(own)
            try Files.makeDirectory(work)
        }
        for name in names {
            try BrokenPromise.unlessDone("the harness can't write its files") { () throws(FileError) in
                try Files.writeFileDurably(work + "/" + name, bytes, permissions: 0o600, syncs: false)
            }
            _ = try BrokenPromise.unlessRefused { () throws(EngineError) in
                try MigrationStatus(of: StoreLocation(new: own + "/Store.sqlite"))
            }
        }
    }

    private static func json(_ bytes: [UInt8]) throws(BrokenPromise) {
        _ = try BrokenPromise.unlessRefused { () throws(CheckpointError) in try JSONRecord.format(of: bytes) }
        guard
            let value = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try JSONRecord.decode(bytes, as: JSONValue.self)
            }),
            // Numbers that JSON can't hold are refused in writing.
            let written = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try JSONRecord.encode(value)
            })
        else { return }
        // Written twice: a real without a fraction is written as a whole number, and is one from then on.
        let (once, twice) = try BrokenPromise.unlessDone("a written record isn't read") {
            () throws(CheckpointError) in
            let once = try JSONRecord.encode(JSONRecord.decode(written, as: JSONValue.self))
            return (once, try JSONRecord.encode(JSONRecord.decode(once, as: JSONValue.self)))
        }
        try BrokenPromise.unless(once == twice, "a record written twice differs")
    }
}

/// Any JSON, as the decoders of records see it.
private enum JSONValue: Codable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

/// The kinds of records in a work directory, for tests of the corpus.
package enum WorkRecord: String, Hashable, Sendable, CaseIterable {
    case plan, verified, swap

    /// The kind as which this release reads the bytes; nil if it refuses them.
    package init?(reading bytes: [UInt8]) {
        func reads<Record: Decodable>(_ type: Record.Type) -> Bool {
            (try? JSONRecord.decode(bytes, as: type)) != nil
        }
        if reads(PlanRecord.self) {
            self = .plan
        } else if reads(VerifiedRecord.self) {
            self = .verified
        } else if reads(SwapIntent.self) {
            self = .swap
        } else {
            return nil
        }
    }
}
