import Causeway
import CausewayStores
import Foundation
import Testing

/// Policies that handle texts as UTF-8 spans make the rows that they make with strings.
@Suite(.timeLimit(.minutes(60)))
struct PolicyTextTests {
    typealias Work = PoliciesExample.Work

    class StringPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            let found = try manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance])
            guard let person = found.first else { throw PolicyError.nothingMade(sInstance.uri) }
            let name = try sInstance.string("name") ?? ""
            try person.set("label", to: name)
            let context = manager.destinationContext
            for word in name.split(separator: " ").prefix(5) {
                let note = try context.insert("Note")
                try note.set("text", to: word.prefix(4) + "…")
                try person.add(note, to: "notes")
            }
            let whole = try context.insert("Note")
            try whole.set("text", to: "first")
            try whole.set("text", to: name)
            try person.add(whole, to: "notes")
            if let nick = try sInstance.string("nick") {
                let note = try context.insert("Note")
                try note.set("text", to: nick)
            }
            if let boss = try sInstance.object("boss")?.string("name") {
                let note = try context.insert("Note")
                try note.set("text", to: boss)
            }
            let copy = try context.insert("Note")
            try copy.set("text", to: try person.string("label"))
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
            guard !Self.isIndependent else { return }
            for source in try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            {
                let note = try manager.destinationContext.insert("Note")
                try note.set("text", to: try source.string("name"))
            }
        }
    }

    final class IndependentStringPolicy: StringPolicy {
        override class var isIndependent: Bool { true }
    }

    class SpanPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
            guard let person = try manager.destinationInstance(forSource: sInstance, in: mapping) else {
                throw PolicyError.nothingMade(sInstance.uri)
            }
            let context = manager.destinationContext
            _ = try sInstance.withUTF8("name") { name in
                try person.set("label", to: name)
                var words = 0
                try name.split(separator: " ") { word in
                    words += 1
                    guard words <= 5 else { return }
                    let note = try context.insert("Note")
                    try note.set("text") {
                        $0.append(word.prefix(4))
                        $0.append("…")
                    }
                    try person.add(note, to: "notes")
                }
                let whole = try context.insert("Note")
                let first = Array("first".utf8)
                try whole.set("text", toUTF8: first.span)
                try whole.set("text", to: name)
                try person.add(whole, to: "notes")
            }
            _ = try sInstance.withUTF8("nick") { nick in
                try context.insert("Note").set("text", to: nick)
            }
            _ = try sInstance.object("boss")?.withUTF8("name") { name in
                try context.insert("Note").set("text", to: name)
            }
            _ = try person.withUTF8("label") { label in
                try context.insert("Note").set("text", to: label)
            }
        }

        override func createRelationships(
            forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
            guard !Self.isIndependent else { return }
            for source in try manager.sourceInstances(
                forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            {
                guard try manager.destinationInstance(forSource: source, in: mapping) == dInstance else {
                    throw PolicyError.nothingMade(source.uri)
                }
                let note = try manager.destinationContext.insert("Note")
                _ = try source.withUTF8("name") { try note.set("text", to: $0) }
            }
        }
    }

    final class IndependentSpanPolicy: SpanPolicy {
        override class var isIndependent: Bool { true }
    }

    /// Names of several words, some on overflow pages, some longer than what a context copies.
    private static func office() throws -> Office {
        let office = try Office()
        try StoreRows.execute(
            office.store,
            """
            UPDATE ZPERSON SET ZNAME = CASE Z_PK % 7
                WHEN 0 THEN '' WHEN 1 THEN 'naïve ' || Z_PK || ' 日本語テキスト 🎉🎉🎉🎉🎉 x'
                WHEN 2 THEN replace(hex(zeroblob(3000 + Z_PK)), '00', 'ü ')
                WHEN 3 THEN 'é' || Z_PK || replace(hex(zeroblob(40000)), '00', '🎉')
                WHEN 4 THEN 'plain words of person ' || Z_PK || ' and more'
                ELSE ZNAME END
            """)
        return office
    }

    @Test("spans make the rows that strings make, in order and on workers", arguments: Work.every)
    func same(_ work: Work) throws {
        let office = try Self.office()
        let strings = try office.migrate(Office.code(StringPolicy.self), as: "strings")
        let spans = try office.migrate(Office.code(SpanPolicy.self), as: "spans", work)
        try Office.expectSame(spans, strings)
        let independent = try office.migrate(Office.code(IndependentStringPolicy.self), as: "independent strings")
        try Office.expectSame(
            try office.migrate(Office.code(IndependentSpanPolicy.self), as: "independent spans", work), independent)
        #expect(try Office.people(spans, "ZLABEL = ZNAME") == Array(repeating: "1", count: 40))
        try Office.expectSound(spans)
    }
}
