#if canImport(CoreData)
    import CoreData

    /// A store that Core Data has open.
    struct OpenedStore {
        private let coordinator: NSPersistentStoreCoordinator
        private let context: NSManagedObjectContext
        private let url: URL

        /// Opens it; without `migrates`, only as it is.
        init(_ url: URL, model: NSManagedObjectModel, migrates: Bool = false) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: migrates,
                    NSInferMappingModelAutomaticallyOption: migrates,
                    NSSQLitePragmasOption: ["journal_mode": "DELETE"],
                ])
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.undoManager = nil
            self.url = url
        }

        func close() throws {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }

        /// What a walk met.
        struct Walk {
            var objects = 0
            var values = 0
            var links = 0

            var text: String { "\(objects) objects, \(values) values, \(links) links" }
        }

        /// Rows in a batch.
        private static let batch = 500

        /// Reads every value of every object and follows every link.
        func walk() throws -> Walk {
            var walk = Walk()
            try context.performAndWait {
                for entity in coordinator.managedObjectModel.entities where !entity.isAbstract {
                    guard let name = entity.name else { continue }
                    let request = NSFetchRequest<NSManagedObject>(entityName: name)
                    request.includesSubentities = false
                    let count = try context.count(for: request)
                    request.fetchLimit = Self.batch
                    var met = 0
                    while met < count {
                        request.fetchOffset = met
                        let found = try context.fetch(request)
                        guard !found.isEmpty else { throw Failure("\(name): \(met) of \(count) objects are fetched") }
                        met += found.count
                        for object in found { try visit(object, &walk) }
                        context.reset()
                    }
                    walk.objects += met
                }
            }
            return walk
        }

        private func visit(_ object: NSManagedObject, _ walk: inout Walk) throws {
            let entity = object.entity
            for name in entity.attributesByName.keys where object.value(forKey: name) != nil { walk.values += 1 }
            for (name, relationship) in entity.relationshipsByName {
                let others: [NSManagedObject]
                switch object.value(forKey: name) {
                case let set as Set<NSManagedObject>: others = Array(set)
                case let set as NSOrderedSet: others = set.array.compactMap { $0 as? NSManagedObject }
                case let other as NSManagedObject: others = [other]
                default: others = []
                }
                for other in others {
                    // A dangling link throws here.
                    _ = try context.existingObject(with: other.objectID)
                    guard let inverse = relationship.inverseRelationship, !relationship.isTransient else { continue }
                    let back = other.value(forKey: inverse.name)
                    let isMutual =
                        switch back {
                        case let set as Set<NSManagedObject>: set.contains(object)
                        case let set as NSOrderedSet: set.contains(object)
                        default: back as? NSManagedObject == object
                        }
                    guard isMutual else {
                        throw Failure("\(entity.name ?? "?").\(name): a link has no inverse: \(object.objectID)")
                    }
                }
                walk.links += others.count
            }
        }

        /// Changes a string or a number of the first object that has one, saves, and reads it again.
        func saveChange() throws -> String {
            try context.performAndWait {
                for entity in coordinator.managedObjectModel.entities where !entity.isAbstract {
                    guard let name = entity.name else { continue }
                    let attribute = entity.attributesByName.values.first {
                        [.stringAttributeType, .integer64AttributeType, .integer32AttributeType]
                            .contains($0.attributeType) && !$0.isTransient && !($0 is NSDerivedAttributeDescription)
                            && $0.validationPredicates.isEmpty
                    }
                    guard let attribute else { continue }
                    let request = NSFetchRequest<NSManagedObject>(entityName: name)
                    request.fetchLimit = 1
                    guard let object = try context.fetch(request).first else { continue }
                    let value: Any = attribute.attributeType == .stringAttributeType ? UUID().uuidString : 4_711
                    object.setValue(value, forKey: attribute.name)
                    try context.save()
                    context.reset()
                    let again = try context.existingObject(with: object.objectID)
                    guard (again.value(forKey: attribute.name) as AnyObject).isEqual(value) else {
                        throw Failure("\(name).\(attribute.name): the saved value isn't what is read")
                    }
                    return "\(name).\(attribute.name)"
                }
                return "nothing to change: no object has a plain string or number"
            }
        }
    }
#endif
