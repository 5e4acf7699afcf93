import CausewayCheckpoint

/// Checkpoint containers, their fields and segments.
enum CheckpointChecks {
    private static let identity = CheckpointIdentity(
        plan: [UInt8](repeating: 1, count: CheckpointIdentity.digestLength),
        source: [UInt8](repeating: 2, count: CheckpointIdentity.digestLength),
        migration: [UInt8](repeating: 3, count: CheckpointIdentity.migrationLength))

    /// The hashes keep a fuzzer out of the inner layers, so the bytes are also read as each of these.
    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        try container(bytes)
        try wrapped(bytes)
        try fields(bytes)
        try segment(bytes)
    }

    private static func container(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let content = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try CheckpointContainer.decode(bytes, expecting: nil)
            })
        else { return }
        let again = try BrokenPromise.unlessDone("a checkpoint's content isn't written") {
            () throws(CheckpointError) in
            let written = try CheckpointContainer.encode(
                content.payload, sequence: content.sequence, identity: content.identity, level: 3)
            return try CheckpointContainer.decode(written, expecting: content.identity)
        }
        try BrokenPromise.unless(again == content, "a checkpoint written again reads as another")
        let stranger = try BrokenPromise.unlessRefused { () throws(CheckpointError) in
            try CheckpointContainer.decode(bytes, expecting: identity)
        }
        try BrokenPromise.unless(
            stranger == nil || content.identity == identity, "a checkpoint of something else is taken")
    }

    /// What is written is read back; with one byte changed it is refused.
    private static func wrapped(_ bytes: [UInt8]) throws(BrokenPromise) {
        var written = try BrokenPromise.unlessDone("a payload isn't written") { () throws(CheckpointError) in
            try CheckpointContainer.encode(bytes, sequence: 7, identity: identity, level: 1)
        }
        let content = try BrokenPromise.unlessDone("a written checkpoint isn't read") { () throws(CheckpointError) in
            try CheckpointContainer.decode(written, expecting: identity)
        }
        try BrokenPromise.unless(content.payload == bytes && content.sequence == 7, "a payload came back changed")
        let place = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % written.count
        written[place] ^= 1 << UInt8(bytes.count % 8)
        let damaged = try BrokenPromise.unlessRefused { () throws(CheckpointError) in
            try CheckpointContainer.decode(written, expecting: identity)
        }
        try BrokenPromise.unless(damaged == nil, "a checkpoint with a changed byte (\(place)) is taken")
    }

    /// The first bytes choose the types that are read from the rest.
    private static func fields(_ bytes: [UInt8]) throws(BrokenPromise) {
        let choices = bytes.prefix(16)
        var reader = FieldReader(Array(bytes.dropFirst(16)))
        _ = try BrokenPromise.unlessRefused { () throws(CheckpointError) in
            for choice in choices {
                switch choice % 8 {
                case 0: _ = try reader.unsigned()
                case 1: _ = try reader.signed()
                case 2: _ = try reader.int()
                case 3: _ = try reader.bool()
                case 4: _ = try reader.string()
                case 5: _ = try reader.bytes()
                case 6: _ = try reader.fixed()
                default: _ = try reader.count(limit: 1_000)
                }
            }
            try reader.requireEnd()
        }
    }

    private static func segment(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard let columns = bytes.first.map({ Int($0 % 8) }) else { return }
        guard
            let values = try BrokenPromise.unlessRefused({ () throws(CheckpointError) in
                try DeltaColumns.decode(Array(bytes.dropFirst()), columns: columns, limit: 100_000)
            })
        else { return }
        let again = try BrokenPromise.unlessDone("a written segment isn't read") { () throws(CheckpointError) in
            try DeltaColumns.decode(DeltaColumns.encode(values), columns: columns, limit: 100_000)
        }
        try BrokenPromise.unless(again == values, "a segment written again reads as another")
    }
}
