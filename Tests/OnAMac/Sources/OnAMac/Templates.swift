#if canImport(CoreData)
    import CoreData

    /// Empty stores by Core Data itself: they settle every name that a model leaves open.
    struct Templates {
        let models: Models

        /// Writes one store for every version.
        ///
        /// - Parameter folder: made if it is missing; a store that is there already is an error.
        /// - Returns: the paths.
        /// - Throws: `Failure` where a file is in the way, or what Core Data says.
        func write(to folder: URL) throws -> [String] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return try models.versions.map { name, model in
                let url = folder.appending(path: name + ".sqlite")
                guard !FileManager.default.fileExists(atPath: url.path) else {
                    throw Failure("\(url.path) exists already; take another folder")
                }
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                // A rollback journal, so that the template is one file.
                let store = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                    options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
                try coordinator.remove(store)
                return url.path
            }
        }
    }
#endif
