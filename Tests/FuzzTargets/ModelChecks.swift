import CausewayDeflate
import CausewayModel

/// Model readers: source, compiled, cached.
enum ModelChecks {
    static func source(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let model = try BrokenPromise.unlessRefused({ () throws(ModelError) in
                try ModelReader.model(source: bytes)
            })
        else { return }
        try survivesArchive(model)
    }

    static func archive(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let model = try BrokenPromise.unlessRefused({ () throws(ModelError) in
                try ModelReader.model(compiled: bytes)
            })
        else { return }
        try survivesArchive(model)
    }

    /// Random bytes rarely are a valid stream, so the bytes are also tried deflated.
    static func cache(_ bytes: [UInt8]) throws(BrokenPromise) {
        try readCache(bytes)
        let deflated = try BrokenPromise.unlessDone("bytes aren't deflated") { () throws(DeflateError) in
            try RawDeflate.deflate(bytes)
        }
        let inflated = try BrokenPromise.unlessDone("what was deflated isn't inflated") { () throws(DeflateError) in
            try RawDeflate.inflate(deflated, limit: bytes.count)
        }
        try BrokenPromise.unless(inflated == bytes, "deflated bytes inflate to others")
        try readCache(deflated)
    }

    private static func readCache(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let model = try BrokenPromise.unlessRefused({ () throws(ModelError) in try ModelReader.model(cache: bytes) }
            )
        else { return }
        try survivesArchive(model)
    }

    /// A model that can be archived reads back with the same version hashes: the hashes decide which store it opens.
    private static func survivesArchive(_ model: ManagedObjectModel) throws(BrokenPromise) {
        guard
            let written = try BrokenPromise.unlessRefused({ () throws(ModelError) in
                try ModelCacheWriter.archive(of: model)
            })
        else { return }
        let read = try BrokenPromise.unlessDone("an archived model isn't read") { () throws(ModelError) in
            try ModelReader.model(compiled: written)
        }
        let different = VersionHashes(read).differences(from: VersionHashes(model).entities)
        try BrokenPromise.unless(
            different.isEmpty, "an archived model reads with other hashes: \(different.joined(separator: "; "))")
    }
}
