import CausewayEvaluation
import CausewayObjects
import Testing

@Suite("Memory of a context", .timeLimit(.minutes(60)))
struct MemoryTests {
    @Test("a hook that makes, reads and changes many objects holds a bounded number of rows")
    func bounded() throws {
        let store = try TestStore()
        let capacity = 500
        let context = store.context(capacity: capacity)
        let folder = try context.make("Folder", "f")
        let count = 20_000
        for index in 0..<count {
            let note = try context.insert("Note")
            try note.set("rank", to: .integer(Int64(index)))
            try note.set("folder", to: folder)
            #expect(context.heldRows <= 2 * capacity)
        }
        var request = FetchRequest("Note")
        request.fetchBatchSize = 300
        var visited = 0
        let rank = try context.key("rank")
        try context.forEach(request) { note in
            try note.set(rank, to: .integer(-(try note.integer(rank) ?? 0)))
            visited += 1
            if context.heldRows > 300 + capacity { Issue.record("too many rows in memory") }
        }
        #expect(visited == count)
        #expect(context.heldRows == 0)
        let sum = -count * (count - 1) / 2
        #expect(
            try store.row("SELECT count(*), sum(ZRANK), min(ZFOLDER), max(ZFOLDER) FROM ZITEM") == "\(count) \(sum) 1 1"
        )
        let reader = store.reader(capacity: capacity)
        for key in 1...Int64(count) {
            let id = ObjectID(side: .destination, entity: try reader.number(of: "Note"), key: key)
            guard key % 7 == 0 else { continue }
            _ = try reader.object(with: id).object("folder")?.string("name")
            #expect(reader.heldRows <= 2 * capacity)
        }
    }
}
