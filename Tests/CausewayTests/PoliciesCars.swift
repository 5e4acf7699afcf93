import Causeway

/// CoreDataPlus V2 → V3: the maker's name in a car becomes an object that all its cars share. It is found by a fetch,
/// as in the framework's own policy.
final class V2to3MakerPolicy: EntityMigrationPolicy {
    override class var isResumable: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let car = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { throw PolicyError.nothingMade(sInstance.uri) }
        guard let name = try sInstance.string("maker") else { return }
        try car.set("createdBy", to: try Self.findOrCreateMaker(name, in: car.context))
    }

    private static func findOrCreateMaker(_ name: String, in context: ObjectContext) throws -> ManagedObject {
        var request = FetchRequest("Maker", where: "name == $name", ["name": .string(name)])
        request.fetchLimit = 1
        if let maker = try context.fetch(request).first { return maker }
        let maker = try context.insert("Maker")
        try maker.set("name", to: name)
        return maker
    }
}

/// Moody 5 → 6: each country finds the continent that its code names, or makes it.
final class Country5ToCountry6Policy: EntityMigrationPolicy {
    override class var isResumable: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let code = try sInstance.integer("isoContinent") else { return }
        guard
            let country = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { throw PolicyError.nothingMade(sInstance.uri) }
        let continent = try manager.findOrInsert("Continent", where: "numericISO3166Code", is: .integer(code))
        try country.set("continent", to: continent.object)
    }
}
