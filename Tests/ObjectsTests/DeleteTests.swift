import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat
import Testing

@Suite("Deleting", .timeLimit(.minutes(60)))
struct DeleteTests {
    @Test("nullify ends the links of both sides", arguments: [false, true])
    func nullify(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        let folder = try context.make("Folder", "f")
        let task = try context.insert("Task")
        let note = try context.notes("n")[0]
        let tag = try context.make("Tag", "t")
        let people = try context.people("a", "b")
        let passport = try context.insert("Passport")
        try folder.add(task, to: "items")
        try note.add(tag, to: "tags")
        try people[0].set("passport", to: passport)
        try people[0].add(people[1], to: "friends")
        if flushes { try context.flush() }
        try folder.delete()
        try tag.delete()
        try people[0].delete()
        #expect(try task.object("container") == nil)
        #expect(try note.objects("tags").isEmpty)
        #expect(try passport.object("holder") == nil)
        #expect(try people[1].objects("friends").isEmpty)
        let error = #expect(throws: ObjectError.self) { try folder.string("name") }
        #expect(error?.code == .missing)
        try context.flush()
        #expect(try store.row("SELECT (SELECT count(*) FROM ZFOLDER), (SELECT count(*) FROM ZTAG)") == "0 0")
        #expect(throws: ObjectError.self) { try folder.string("name") }
        for join in store.map.layout.joinTables { #expect(try store.rows("SELECT * FROM \(join.name)") == []) }
    }

    @Test("cascade deletes the members, and their members too", arguments: [false, true])
    func cascade(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        let folder = try context.make("Folder", "f")
        let notes = try context.notes("a", "b", "c")
        try folder.set("notes", to: [notes[0], notes[1]])
        try notes[0].add(try context.make("Attachment", "x"), to: "attachments")
        _ = try context.make("Attachment", "y")
        if flushes { try context.flush() }
        try folder.delete()
        try context.flush()
        #expect(try store.rows("SELECT ZTITLE FROM ZITEM") == ["c"])
        #expect(try store.rows("SELECT ZNAME FROM ZATTACHMENT") == ["y"])
    }

    @Test("deny refuses and changes nothing", arguments: [false, true])
    func deny(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        let person = try context.people("p")[0]
        let passport = try context.insert("Passport")
        let folder = try context.make("Folder", "f")
        try person.set("passport", to: passport)
        try folder.set("owner", to: person)
        if flushes { try context.flush() }
        let error = #expect(throws: ObjectError.self) { try person.delete() }
        #expect(error?.code == .denied && error?.message.contains("Person p1.folders") == true)
        #expect(try person.object("passport") == passport)
        try folder.delete()
        try person.delete()
        try context.flush()
        #expect(try store.rows("SELECT * FROM ZPERSON") == [])
    }

    @Test("no action leaves the other side as it is")
    func noAction() throws {
        let store = try TestStore()
        let context = store.context()
        let (note, pin) = (try context.insert("Note"), try context.insert("Pin"))
        try pin.set("item", to: note)
        try context.flush()
        try note.delete()
        try context.flush()
        #expect(try store.row("SELECT ZITEM FROM ZPIN") == "1")
        #expect(try store.rows("SELECT * FROM ZITEM") == [])
    }

    @Test("deleting twice, and using a deleted object, is an error")
    func twice() throws {
        let context = try TestStore().context()
        let notes = try context.notes("a", "b")
        try context.flush()
        try notes[0].delete()
        for use in [{ try notes[0].delete() }, { try notes[0].set("title", to: "x") }] as [() throws -> Void] {
            let error = #expect(throws: ObjectError.self) { try use() }
            #expect(error?.code == .missing)
        }
        #expect(try notes[1].string("title") == "b")
    }

    @Test("a key is never used again")
    func keys() throws {
        let context = try TestStore().context()
        let first = try context.people("a")[0]
        try context.flush()
        try first.delete()
        try context.flush()
        #expect(try context.people("b")[0].objectID.key == 2)
    }
}
