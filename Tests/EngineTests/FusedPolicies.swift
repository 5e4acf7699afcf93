import CausewayEvaluation
import CausewayObjects

/// Splits a line: its code goes into a row of its own.
final class SplitLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let code = try sInstance.string("code"), try (sInstance.integer("quantity") ?? 0) % 7 != 3,
            let line = try manager.destinationInstance(forSource: sInstance, in: mapping)
        else { return }
        let part = try manager.destinationContext.insert("Part")
        try part.set("text", to: code.prefix(12) + "…")
        try part.set("line", to: line)
        let note = try sInstance.value("note")
        if !note.isNull { try part.set("text", to: note) }
    }
}

/// The same, with a stage 2 of its own that reads the source row.
final class LateSplitLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard try sInstance.integer("quantity") != 9 else { return }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        guard
            let source = try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance]
            ).first
        else { return }
        try dInstance.set("note", to: source.string("code").map { String($0.suffix(5)) })
    }
}

/// Makes none, one or two rows of each.
final class ManyLines: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let quantity = try sInstance.integer("quantity") ?? 0
        for turn in 0..<(quantity % 3) {
            let made = try manager.destinationContext.insert("Line")
            try made.set("code", to: "\(turn) of \(quantity)")
            try made.set("price", to: sInstance.value("price"))
            try manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
        }
    }

    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
}

/// Follows a link where it can, and says nothing where it can't.
final class LookingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard try sInstance.integer("quantity") == 71 else { return }
        let name = try? sInstance.object("maker")?.string("name")
        try manager.destinationInstance(forSource: sInstance, in: mapping)?.set("note", to: name ?? "none")
    }
}

/// The same, and says so.
final class HonestLookingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var readsOtherObjects: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let name = try sInstance.object("maker")?.string("name")
        try manager.destinationInstance(forSource: sInstance, in: mapping)?.set("note", to: name)
    }
}

/// Looks at a link, and not at where it leads.
final class LinkedLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let maker = try sInstance.object("maker")
        try manager.destinationInstance(forSource: sInstance, in: mapping)?.set(
            "note", to: maker.map { "maker \($0.objectID.key)" } ?? "nobody's")
    }
}

/// Reads all makers before the first row.
class PreparedLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    private var count = 0

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        count = (try? manager.sourceContext.count(FetchRequest("Maker"))) ?? -1
    }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        try manager.destinationInstance(forSource: sInstance, in: mapping)?.set("note", to: "one of \(count)")
    }
}

/// The same, and links nothing in stage 2.
final class CountedLine: PreparedLine {
    override class var createsRelationships: Bool { false }
}

/// Is called by expressions.
final class CallingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override var functions: [String: MigrationFunction] {
        [
            "double:": { values, _ in
                if case .integer(let value)? = values.first { return .integer(value * 2) }
                return .null
            }
        ]
    }
}

/// Fails at a row that breaks a rule of the version between.
final class FailingLine: EntityMigrationPolicy {
    struct TooLarge: Error {}

    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        if try sInstance.integer("large") ?? 0 > 95_000 { throw TooLarge() }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

/// Writes a note in each row, by what the row has, and leaves some out.
final class NotingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let quantity = try sInstance.integer("quantity") ?? 0
        guard quantity % 13 != 5 else { return }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard quantity % 4 != 1, let line = try manager.destinationInstance(forSource: sInstance, in: mapping) else {
            return
        }
        try line.set("note", to: "\(quantity) of \(try sInstance.string("code") ?? "nothing")")
    }
}

/// Leaves makers out, to which lines have links.
final class SparseMaker: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard try sInstance.integer("rank") != 7 else { return }
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
}

/// Makes a second row of a few.
final class SometimesTwoLines: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard try sInstance.integer("quantity") == 71 else { return }
        try manager.destinationContext.insert("Line").set("code", to: "another")
    }
}

/// Looks at what was made, once all rows are.
final class CountingLine: EntityMigrationPolicy {
    struct None: Error {}

    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        if try manager.destinationContext.count(FetchRequest("Line")) == 0 { throw None() }
    }
}

/// Adds a part behind the others of each whole.
final class AppendingWhole: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let whole = try manager.destinationInstance(forSource: sInstance, in: mapping) else { return }
        let part = try manager.destinationContext.insert("Part")
        try part.set("text", to: sInstance.string("name"))
        try part.set("whole", to: whole)
    }
}

/// Leaves something in the manager once its rows are made.
final class TellingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        manager.userInfo["line"] = 7
    }
}

/// Takes what is in the manager before its own rows are made.
final class ToldMaker: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        manager.userInfo["told"] = manager.userInfo["line"] ?? 3
    }

    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let told = manager.userInfo["told"] as? Int,
            let maker = try manager.destinationInstance(forSource: sInstance, in: mapping)
        else { return }
        try maker.set("rank", to: .integer(Int64(told)))
    }
}

/// Adds a row once all are made, and says nothing where it can't.
final class FindingLine: EntityMigrationPolicy {
    override class var isIndependent: Bool { true }
    override class var createsRelationships: Bool { false }

    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
        _ = try? manager.findOrInsert("Maker", where: "name", is: "found")
    }
}
