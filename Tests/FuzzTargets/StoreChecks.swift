import CausewayEngine
import CausewayModel
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A whole file as a store: runs what `inspect` does, and the first half of `migrate`.
enum StoreChecks {
    /// In memory where /dev/shm exists: a fuzzer writes thousands of files a second.
    private static let folder = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    private static let sidecars = ["-wal", "-shm", "-journal"]

    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        let path = "\(folder)/causeway-fuzz-\(getpid())-\(UInt64.random(in: 0 ... .max)).sqlite"
        defer {
            // Most of these don't exist. The operating system removes a file that is left here.
            for suffix in [""] + sidecars { _ = try? Files.unlink(path + suffix) }
        }
        try BrokenPromise.unlessDone("the harness can't write its file") { () throws(FileError) in
            try write(bytes, to: path)
        }
        try read(path)
        let after = try BrokenPromise.unlessDone("reading a store took it away") { () throws(FileError) in
            try Files.readFile(path, limit: bytes.count + 1)
        }
        try BrokenPromise.unless(after == bytes, "reading a store changed its bytes")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
        let file = try OpenFile(path, mode: .createNew)
        guard !bytes.isEmpty else { return }
        let result = unsafe bytes.withUnsafeBytes { buffer in
            Result { () throws(FileError) in try unsafe file.write(buffer, at: 0) }
        }
        try result.get()
    }

    private static func read(_ path: String) throws(BrokenPromise) {
        guard
            let store = try BrokenPromise.unlessRefused({ () throws(EngineError) in
                try SourceStore.reading(StoreLocation(existing: path))
            })
        else { return }
        defer { store.release() }
        guard
            try BrokenPromise.unlessRefused({ () throws(EngineError) in try store.checkIntegrity() }) != nil,
            let model = try cachedModel(store)
        else { return }
        _ = try BrokenPromise.unlessRefused { () throws(StoreFormatError) in
            let binding = try StoreBinding(
                store.schema, model: model, frameworkVersion: store.metadata.frameworkVersion)
            try binding.requireComplete()
        }
    }

    /// The model in the store; nil if there is none that can be read.
    private static func cachedModel(_ store: SourceStore) throws(BrokenPromise) -> ManagedObjectModel? {
        guard store.schema.table("Z_MODELCACHE") != nil else { return nil }
        let content = try BrokenPromise.unlessRefused { () throws(SQLiteError) in
            var statement = try store.connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            return try statement.step() ? statement.bytes(at: 0) : nil
        }
        guard let content else { return nil }
        return try BrokenPromise.unlessRefused { () throws(ModelError) in try ModelReader.model(cache: content) }
    }
}
