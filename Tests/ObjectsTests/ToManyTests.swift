import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat
import Testing

@Suite("To-many relationships", .timeLimit(.minutes(60)))
struct ToManyTests {
    @Test("order after set, add, remove and set again", arguments: [false, true])
    func order(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        func settle() throws { if flushes { try context.flush() } }
        let (folder, other) = (try context.make("Folder", "f"), try context.make("Folder", "g"))
        let notes = try context.notes("0", "1", "2", "3", "4")
        try other.add(notes[4], to: "notes")
        try settle()
        try folder.set("notes", to: [notes[2], notes[0], notes[1]])
        try settle()
        #expect(try folder.names("notes", "title") == ["2", "0", "1"])
        try folder.add(notes[4], to: "notes")
        try settle()
        try folder.add(notes[3], to: "notes")
        try settle()
        #expect(try folder.names("notes", "title") == ["2", "0", "1", "4", "3"])
        #expect(try other.objects("notes").isEmpty)
        try folder.remove(notes[0], from: "notes")
        try settle()
        #expect(try folder.names("notes", "title") == ["2", "1", "4", "3"])
        try folder.set("notes", to: [notes[3], notes[0], notes[3]])
        try settle()
        #expect(try folder.names("notes", "title") == ["3", "0"])
        try folder.add(notes[1], to: "notes")
        try context.flush()
        #expect(try folder.names("notes", "title") == ["3", "0", "1"])
        #expect(try notes[2].object("folder") == nil)
        #expect(try store.rows("SELECT ZTITLE FROM ZITEM WHERE (ZFOLDER IS NULL) <> (Z_FOK_FOLDER IS NULL)") == [])
    }

    @Test("members added in another order than they were made, some of them stored already")
    func orderOfAdding() throws {
        let context = try TestStore().context()
        let folder = try context.make("Folder", "f")
        let old = try context.notes("old")[0]
        try context.flush()
        let new = try context.notes("n1", "n2")
        try folder.add(new[1], to: "notes")
        try folder.add(old, to: "notes")
        try folder.add(new[0], to: "notes")
        #expect(try folder.names("notes", "title") == ["n2", "old", "n1"])
    }

    @Test("chosen places stay before those that are appended later, in every list")
    func placesAfterLists() throws {
        let context = try TestStore().context()
        let folders = [try context.make("Folder", "a"), try context.make("Folder", "b")]
        try folders[0].add(try context.notes("x")[0], to: "notes")
        try context.flush()
        try folders[1].set("notes", to: try (0..<50).map { try context.make("Note", "\($0)", "title") })
        try folders[1].add(try context.notes("last")[0], to: "notes")
        #expect(try folders[1].names("notes", "title") == (0..<50).map { "\($0)" } + ["last"])
    }

    @Test("without inverse: a column of its own in the members' table, ordered where the relationship is")
    func virtual() throws {
        let store = try TestStore()
        let context = store.context()
        let notes = try context.notes("a", "b")
        let parts = try ["p", "q", "r"].map { try context.make("Attachment", $0) }
        try notes[0].set("attachments", to: [parts[0], parts[1]])
        try notes[0].set("extras", to: [parts[2], parts[0]])
        #expect(try notes[0].names("attachments") == ["p", "q"])
        #expect(try notes[0].names("extras") == ["r", "p"])
        try notes[1].add(parts[1], to: "attachments")
        try notes[0].add(parts[1], to: "extras")
        try context.flush()
        #expect(try notes[0].names("attachments") == ["p"])
        #expect(try notes[1].names("attachments") == ["q"])
        #expect(try notes[0].names("extras") == ["r", "p", "q"])
        let number = try #require(store.map.layout.entityNumbers["Note"])
        #expect(try store.row("SELECT Z\(number)ATTACHMENTS FROM ZATTACHMENT ORDER BY 1") == "- | 1 | 2")
    }

    @Test("members of subentities, read from the declared destination")
    func subentities() throws {
        let context = try TestStore().context()
        let folder = try context.make("Folder", "f")
        let (note, task) = (try context.insert("Note"), try context.insert("Task"))
        try folder.set("items", to: [task, note])
        try context.flush()
        #expect(try folder.objects("items").map(\.entityName) == ["Note", "Task"])
        #expect(try task.object("container") == folder)
        try note.set("container", to: nil as ManagedObject?)
        #expect(try folder.objects("items") == [task])
    }

    @Test("an owner that just got members loses them when others are set, and when set to none")
    func replaced() throws {
        let context = try TestStore().context()
        let folder = try context.make("Folder", "f")
        let notes = try context.notes("a", "b")
        try notes[0].set("folder", to: folder)
        try folder.set("notes", to: [notes[1]])
        #expect(try folder.names("notes", "title") == ["b"])
        #expect(try notes[0].object("folder") == nil)
        try folder.setValue(.null, forKey: "notes")
        #expect(try folder.objects("notes").isEmpty)
        #expect(try notes[1].object("folder") == nil)
    }
}
