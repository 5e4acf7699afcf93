#if canImport(CoreData)
    import CoreData

    /// The versions of a compiled model.
    struct Models {
        /// By the names of their files.
        let versions: [(name: String, model: NSManagedObjectModel)]

        /// - Parameter url: a `.momd` or a `.mom`.
        /// - Throws: `Failure` where Core Data can't read one.
        init(at url: URL) throws {
            let files =
                url.pathExtension == "mom"
                ? [url]
                : try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
                    .filter { $0.pathExtension == "mom" }
                    .sorted { $0.lastPathComponent < $1.lastPathComponent }
            versions = try files.map { file in
                guard let model = NSManagedObjectModel(contentsOf: file) else {
                    throw Failure("\(file.path): Core Data can't read the model")
                }
                return (file.deletingPathExtension().lastPathComponent, model)
            }
            guard !versions.isEmpty else { throw Failure("\(url.path): no .mom in it; compile it with xcrun momc") }
        }

        /// The version that a store has, as Core Data sees it.
        func version(of store: URL) throws -> (name: String, model: NSManagedObjectModel) {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: store)
            let found = versions.first {
                $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            }
            guard let found else { throw Failure("\(store.path): Core Data finds no version of the model that fits") }
            return found
        }
    }
#endif
