import Causeway

/// CareKit 2.0 → 2.1, derived from the two stores: every versioned object gets a random identity, the new schema's
/// number and a knowledge element, all with one time. Outcomes get the dates and the identifier that they lacked.
final class CareKit20To21Policy: EntityMigrationPolicy {
    override class var isResumable: Bool { true }

    /// The name of the knowledge element's relationship, by the versioned entity's name.
    private static let links = [
        "OCKCDCarePlan": "carePlan", "OCKCDContact": "contact", "OCKCDOutcome": "outcome", "OCKCDPatient": "patient",
        "OCKCDTask": "task",
    ]

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard
            let object = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { throw PolicyError.nothingMade(sInstance.uri) }
        guard let link = Self.links[object.entityName] else { throw PolicyError.unknownEntity(object.entityName) }
        let clock = try Self.clock(in: manager)
        try object.set("uuid", to: Self.randomUUID())
        try object.set("schemaVersion", to: "2.1.0")
        if object.entityName == "OCKCDOutcome" {
            let date = try sInstance.value(forKey: "date")
            for name in ["startDate", "endDate", "effectiveDate"] { try object.setValue(date, forKey: name) }
        }
        let element = try object.context.insert("OCKCDKnowledgeElement")
        try element.setValue(try clock.value(forKey: "uuid"), forKey: "uuid")
        try element.set("time", to: .integer(1))
        try element.set(PropertyKey(link), to: object)
    }

    /// An outcome's identifier contains that of its task, which is known only now.
    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        guard dInstance.entityName == "OCKCDOutcome", let task = try dInstance.object("task"),
            case .uuid(let bytes) = try task.value(forKey: "uuid")
        else { return }
        let index = try dInstance.integer("taskOccurrenceIndex") ?? 0
        try dInstance.set("id", to: "\(Self.text(bytes))_\(index)")
    }

    /// 8-4-4-4-12 hexadecimal digits.
    private static func text(_ uuid: [UInt8]) -> String {
        var result = ""
        for (place, byte) in uuid.enumerated() {
            if [4, 6, 8, 10].contains(place) { result += "-" }
            result += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return result.uppercased()
    }

    private static func clock(in manager: MigrationManager) throws -> ManagedObject {
        if let clock = try manager.destinationContext.fetch(FetchRequest("OCKCDClock")).first { return clock }
        let clock = try manager.destinationContext.insert("OCKCDClock")
        try clock.set("uuid", to: randomUUID())
        try clock.set("vectorClock", to: .data([1]))
        return clock
    }

    private static func randomUUID() -> Value {
        .uuid((0..<16).map { _ in UInt8.random(in: 0...255) })
    }
}
