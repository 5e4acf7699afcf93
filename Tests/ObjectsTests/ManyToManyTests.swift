import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewayStoreFormat
import Testing

@Suite("Many-to-many relationships", .timeLimit(.minutes(60)))
struct ManyToManyTests {
    @Test("from both ends, and only once", arguments: [false, true])
    func bothEnds(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        func settle() throws { if flushes { try context.flush() } }
        let notes = try context.notes("a", "b")
        let tags = try ["s", "t"].map { try context.make("Tag", $0) }
        try notes[0].add(tags[0], to: "tags")
        try settle()
        try tags[0].add(notes[0], to: "notes")
        try tags[1].set("notes", to: [notes[0], notes[1]])
        try settle()
        #expect(try notes[0].names("tags") == ["s", "t"])
        #expect(try tags[1].names("notes", "title") == ["a", "b"])
        try notes[0].set("tags", to: [tags[1]])
        try settle()
        #expect(try tags[0].objects("notes").isEmpty)
        try tags[1].remove(notes[1], from: "notes")
        try context.flush()
        #expect(try notes[0].names("tags") == ["t"])
        #expect(try notes[1].objects("tags").isEmpty)
        let join = try #require(store.map.layout.joinTable(of: "tags", declaredBy: "Note")).table.name
        #expect(try store.row("SELECT count(*) FROM \(join)") == "1")
    }

    @Test("ordered on one side", arguments: [false, true])
    func orderedOnce(flushes: Bool) throws {
        let context = try TestStore().context()
        func settle() throws { if flushes { try context.flush() } }
        let note = try context.notes("n")[0]
        let people = try context.people("a", "b", "c", "d")
        try note.set("readers", to: [people[2], people[0]])
        try settle()
        try people[3].add(note, to: "readNotes")
        try settle()
        try note.add(people[1], to: "readers")
        #expect(try note.names("readers") == ["c", "a", "d", "b"])
        try note.remove(people[0], from: "readers")
        try note.add(people[0], to: "readers")
        try settle()
        #expect(try note.names("readers") == ["c", "d", "b", "a"])
        #expect(try people[3].names("readNotes", "title") == ["n"])
    }

    @Test("ordered on both sides: setting one side's order keeps the other's", arguments: [false, true])
    func orderedTwice(flushes: Bool) throws {
        let context = try TestStore().context()
        func settle() throws { if flushes { try context.flush() } }
        let notes = try context.notes("1", "2", "3")
        let people = try context.people("a", "b", "c")
        for note in notes { try note.set("editors", to: people) }
        try settle()
        #expect(try people[1].names("editedNotes", "title") == ["1", "2", "3"])
        try notes[0].set("editors", to: [people[2], people[1]])
        try settle()
        #expect(try notes[0].names("editors") == ["c", "b"])
        #expect(try people[1].names("editedNotes", "title") == ["1", "2", "3"])
        #expect(try people[0].names("editedNotes", "title") == ["2", "3"])
        try people[1].set("editedNotes", to: [notes[2], notes[0]])
        try settle()
        #expect(try people[1].names("editedNotes", "title") == ["3", "1"])
        #expect(try notes[0].names("editors") == ["c", "b"])
        #expect(try notes[1].names("editors") == ["a", "c"])
    }

    @Test("its own inverse", arguments: [false, true])
    func reflexive(flushes: Bool) throws {
        let store = try TestStore()
        let context = store.context()
        func settle() throws { if flushes { try context.flush() } }
        let people = try context.people("a", "b", "c")
        try people[0].add(people[1], to: "friends")
        try settle()
        try people[1].add(people[0], to: "friends")
        try people[2].set("friends", to: [people[1]])
        try settle()
        #expect(try people[1].names("friends") == ["a", "c"])
        #expect(try people[0].names("friends") == ["b"])
        #expect(try context.object(with: people[1].objectID).objects("friends").count == 2)
        try people[1].set("friends", to: [people[2]])
        try settle()
        #expect(try people[0].objects("friends").isEmpty)
        #expect(try people[2].names("friends") == ["b"])
        try people[2].remove(people[1], from: "friends")
        try context.flush()
        let join = try #require(store.map.layout.joinTable(of: "friends", declaredBy: "Person")).table.name
        #expect(try store.row("SELECT count(*) FROM \(join)") == "0")
    }
}
