import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat
import Testing

@Suite("To-one relationships and their inverses", .timeLimit(.minutes(60)))
struct ToOneTests {
    @Test("set, replace and clear keep both sides", arguments: [false, true])
    func bothSides(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        let (a, b) = (try context.make("Folder", "a"), try context.make("Folder", "b"))
        let note = try context.notes("n")[0]
        func check(_ expectA: [String], _ expectB: [String], _ target: ManagedObject?) throws {
            if flushes { try context.flush() }
            #expect(try note.object("folder") == target)
            #expect(try a.names("notes", "title") == expectA)
            #expect(try b.names("notes", "title") == expectB)
        }
        try note.set("folder", to: a)
        try check(["n"], [], a)
        try note.set("folder", to: b)
        try check([], ["n"], b)
        try note.set("folder", to: nil as ManagedObject?)
        try check([], [], nil)
        try context.flush()
        #expect(try store.row("SELECT ZFOLDER, Z_FOK_FOLDER FROM ZITEM") == "- -")
    }

    @Test("setting the same target again keeps the place in its list")
    func keepsPlace() throws {
        let context = try TestStore().context()
        let folder = try context.make("Folder", "f")
        let notes = try context.notes("1", "2", "3")
        for note in notes { try note.set("folder", to: folder) }
        try context.flush()
        try notes[0].set("folder", to: folder)
        #expect(try folder.names("notes", "title") == ["1", "2", "3"])
        try folder.add(notes[1], to: "notes")
        #expect(try folder.names("notes", "title") == ["1", "2", "3"])
    }

    @Test("the column of the target's entity follows the target")
    func entityColumn() throws {
        let store = try TestStore()
        let context = store.context()
        let (note, task) = (try context.insert("Note"), try context.insert("Task"))
        let pin = try context.insert("Pin")
        let numbers = store.map.layout.entityNumbers
        let column = "Z\(try #require(numbers["Item"]))_ITEM"
        for target in [note, task] {
            try pin.set("item", to: target)
            #expect(try pin.object("item") == target)
            try context.flush()
            #expect(try pin.object("item") == target)
            let entity = try #require(numbers[target.entityName])
            #expect(try store.row("SELECT ZITEM, \(column) FROM ZPIN") == "\(target.objectID.key) \(entity)")
        }
        try task.remove(pin, from: "pins")
        try context.flush()
        #expect(try store.row("SELECT ZITEM, \(column) FROM ZPIN") == "- -")
        try note.add(pin, to: "pins")
        try context.flush()
        #expect(try pin.object("item") == note)
    }

    @Test("a one-to-one releases both old partners", arguments: [false, true])
    func oneToOne(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        let people = try context.people("a", "b")
        let passports = [try context.insert("Passport"), try context.insert("Passport")]
        try people[0].set("passport", to: passports[0])
        try passports[1].set("holder", to: people[1])
        if flushes { try context.flush() }
        #expect(try passports[0].object("holder") == people[0])
        try people[0].set("passport", to: passports[1])
        if flushes { try context.flush() }
        #expect(try people[0].object("passport") == passports[1])
        #expect(try passports[1].object("holder") == people[0])
        #expect(try people[1].object("passport") == nil)
        #expect(try passports[0].object("holder") == nil)
        try passports[1].set("holder", to: nil as ManagedObject?)
        try context.flush()
        #expect(try store.rows("SELECT ZPASSPORT FROM ZPERSON") == ["-", "-"])
        #expect(try store.rows("SELECT ZHOLDER FROM ZPASSPORT") == ["-", "-"])
    }

    @Test("a one-to-one that is its own inverse")
    func spouses() throws {
        let context = try TestStore().context()
        let people = try context.people("a", "b", "c")
        try people[0].set("spouse", to: people[1])
        #expect(try people[1].object("spouse") == people[0])
        try people[2].set("spouse", to: people[0])
        #expect(try people[1].object("spouse") == nil)
        #expect(try people[0].object("spouse") == people[2])
        try people[0].set("spouse", to: nil as ManagedObject?)
        #expect(try people[2].object("spouse") == nil)
    }

    @Test("a missing partner is ignored")
    func dangling() throws {
        let store = try TestStore()
        let context = store.context()
        let person = try context.people("a")[0]
        let passport = try context.insert("Passport")
        try context.flush()
        try store.execute("UPDATE ZPERSON SET ZPASSPORT = 77")
        try person.set("passport", to: passport)
        #expect(try passport.object("holder") == person)
    }

    @Test("only objects of the destination's kind, and of this store")
    func kinds() throws {
        let context = try TestStore().context()
        let note = try context.insert("Note")
        let person = try context.insert("Person")
        let foreign = ObjectID(side: .source, entity: person.objectID.entity, key: 1)
        let wrong: [Value] = [
            .object(person.objectID), .object(foreign), .string("x"), .collection([.object(person.objectID)]),
        ]
        for value in wrong {
            let error = #expect(throws: ObjectError.self) { try note.set("folder", to: value) }
            #expect(error?.code == .type)
        }
        #expect(throws: ObjectError.self) { try note.add(person, to: "folder") }
        #expect(throws: ObjectError.self) { try note.add(person, to: "title") }
        #expect(try note.object("folder") == nil)
    }
}
