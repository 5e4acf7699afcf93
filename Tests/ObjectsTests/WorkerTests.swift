import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

/// Source records as a batch holds them: a key, a text, a number, a blob.
struct SourceRows {
    let batch = RowBatch()
    let view = RowView(capacity: 16)

    init(_ rows: [[CellValue]]) throws {
        let writer = RecordWriter(capacity: 8)
        for (index, row) in rows.enumerated() {
            writer.begin()
            let cells = try EncodedCells(row)
            writer.append(cells)
            try writer.finish(into: batch, rowid: Int64(index + 1))
        }
    }

    func load(_ row: Int) throws { try view.load(row, of: batch) }
}

@Suite("Contexts of workers, and carried cells", .timeLimit(.minutes(60)))
struct WorkerTests {
    /// What a policy makes for one source row.
    private func make(_ index: Int, in context: ObjectContext) throws {
        let note = try context.make("Note", "n\(index)", "title")
        let folder = try context.make("Folder", "f\(index)")
        let (a, b) = (try context.make("Person", "a\(index)"), try context.make("Person", "b\(index)"))
        let second = try context.make("Note", "m\(index)", "title")
        try folder.add(second, to: "notes")
        try note.set("folder", to: folder)
        #expect(try folder.names("notes", "title") == ["m\(index)", "n\(index)"])
        try folder.set("owner", to: a)
        try note.set("readers", to: [b, a])
        #expect(try note.names("readers") == ["b\(index)", "a\(index)"])
        try b.add(second, to: "readNotes")
        #expect(try second.names("readers") == ["b\(index)"])
        try a.add(b, to: "friends")
        #expect(try b.names("friends") == ["a\(index)"])
        let passport = try context.insert("Passport")
        try passport.set("holder", to: a)
        try b.set("passport", to: passport)
        #expect(try a.object("passport") == nil)
        #expect(try passport.object("holder") == b)
        let pin = try context.insert("Pin")
        try note.add(pin, to: "pins")
        let gone = try context.make("Tag", "gone")
        try note.add(gone, to: "tags")
        try gone.delete()
        #expect(try note.objects("tags").isEmpty)
        try note.add(try context.make("Tag", "t\(index)"), to: "tags")
        try note.set("attachments", to: [try context.make("Attachment", "x\(index)")])
        #expect(try note.names("attachments") == ["x\(index)"])
    }

    @Test("what workers make is written as if one context had made it", arguments: [1, 3, 100])
    func sameRows(batch: Int) throws {
        let direct = try TestStore()
        let context = direct.context()
        let count = 20
        for index in 0..<count { try make(index, in: context) }
        try context.flush()

        let store = try TestStore()
        let writer = store.context()
        var index = 0
        let worker = store.worker()
        // Used again for each batch, as in a migration.
        var rows = PendingRows(store.map)
        while index < count {
            let source = try SourceRows((0..<batch).map { [.integer(Int64($0))] })
            worker.sourceBatch = source.batch
            let reading = store.reader()
            for row in 0..<min(batch, count - index) {
                try source.load(row)
                reading.stand(
                    on: ObjectID(side: .destination, entity: 1, key: Int64(row + 1)), view: source.view, cells: [0],
                    row: row)
                worker.follow(reading)
                try make(index, in: worker)
                index += 1
            }
            worker.handOver(to: &rows)
            try writer.write(&rows)
            let made = rows.tables.reduce(0) { $0 + $1.newRows.count }
            #expect(made == 9 * min(batch, count - (index - 1) / batch * batch))
            rows.removeAll()
        }
        // The writer doesn't give the keys of rows that were taken back: compare without the tags' keys.
        let joined =
            "SELECT ZTITLE, ZNAME FROM ZITEM JOIN \(try tagJoin(store)) AS j ON ZITEM.Z_PK = j.\(try tagColumns(store).0) "
            + "JOIN ZTAG ON ZTAG.Z_PK = j.\(try tagColumns(store).1) ORDER BY 1"
        #expect(try store.rows(joined) == direct.rows(joined))
        #expect(try store.rows(joined).count == count)
        let others = { (lines: [String]) in lines.filter { !$0.contains("TAG") } }
        #expect(try others(store.content()) == others(direct.content()))
    }

    private func tagJoin(_ store: TestStore) throws -> String {
        try #require(store.map.layout.joinTable(of: "tags", declaredBy: "Note")).table.name
    }

    private func tagColumns(_ store: TestStore) throws -> (String, String) {
        let found = try #require(store.map.layout.joinTable(of: "tags", declaredBy: "Note"))
        let (a, b) = (found.table.ownerColumn, found.table.destinationColumn)
        return found.isNaming ? (a, b) : (b, a)
    }

    @Test("access to anything but the current row is refused")
    func detached() throws {
        let store = try TestStore()
        let worker = store.worker()
        let reading = store.reader()
        let source = try SourceRows([[.integer(1)], [.integer(2)]])
        func stand(_ row: Int) throws {
            try source.load(row)
            let id = ObjectID(side: .destination, entity: 1, key: Int64(row + 1))
            reading.stand(on: id, view: source.view, cells: [0], row: row)
            worker.follow(reading)
        }
        try stand(0)
        worker.keptKey = (try worker.number(of: "Folder"), 5)
        let folder = try worker.make("Folder", "f")
        let note = try worker.notes("n")[0]
        #expect(folder.objectID.key == 5)
        try note.set("folder", to: folder)
        #expect(try folder.names("notes", "title") == ["n"])
        try stand(1)
        let stranger = worker.object(
            with: ObjectID(side: .destination, entity: folder.objectID.entity, key: 77))
        let attempts: [() throws -> Void] = [
            { _ = try folder.string("name") }, { _ = try note.string("title") }, { try note.set("title", to: "x") },
            { _ = try folder.objects("notes") }, { _ = try stranger.string("name") },
            { _ = try stranger.objects("notes") }, { try stranger.delete() },
            { _ = try worker.fetch(FetchRequest("Note")) }, { _ = try worker.count(FetchRequest("Note")) },
        ]
        for attempt in attempts {
            let error = #expect(throws: ObjectError.self) { try attempt() }
            #expect(error?.code == .detached)
        }
    }

    @Test("carried cells are read in the hook and after it, and written byte by byte", arguments: [false, true])
    func carried(detached: Bool) throws {
        let store = try TestStore()
        let writer = store.context()
        let source = try SourceRows([
            [.integer(10), .text("naïve"), .integer(41), .blob([1, 0, 255])],
            [.integer(11), .text(""), .null, .blob([])],
            [.integer(12), .text("x\u{0}y"), .integer(.min), .null],
        ])
        let context = detached ? store.worker() : writer
        context.sourceBatch = source.batch
        let reading = store.reader()
        let layout = store.map.layout
        func column(_ name: String) throws -> Int {
            let column = try #require(layout.column(of: name, in: "Sample"))
            return try #require(layout.table(of: "Sample")?.columns.firstIndex(of: column))
        }
        let columns = try (column("text"), column("integer64"), column("bytes"), column("moment"), column("flag"))
        var made: [ManagedObject] = []
        for row in 0..<3 {
            try source.load(row)
            reading.stand(
                on: ObjectID(side: .destination, entity: 1, key: Int64(row)), view: source.view, cells: [0],
                row: row)
            context.follow(reading)
            context.keptKey = (try context.number(of: "Sample"), Int64(10 + row))
            let sample = try context.insert("Sample")
            try context.carry(1, to: sample.objectID, column: columns.0)
            try context.carry(2, to: sample.objectID, column: columns.1)
            try context.carry(3, to: sample.objectID, column: columns.2)
            try sample.set("float", to: .real(0.5))
            made.append(sample)
            #expect(try sample.string("text") == ["naïve", "", "x\u{0}y"][row])
            if row == 1 { try sample.set("text", to: (try sample.string("text") ?? "") + "patched") }
        }
        if detached {
            var rows = PendingRows(store.map)
            context.handOver(to: &rows)
            try writer.write(&rows)
            #expect(rows.key(of: made[0].objectID, in: store.map) == 10)
        } else {
            #expect(try made[0].integer("integer64") == 41)
            #expect(try made[0].data("bytes") == [1, 0, 255])
            try context.flush()
        }
        #expect(
            try store.rows("SELECT Z_PK, ZTEXT, ZINTEGER64, ZBYTES, ZFLOAT FROM ZSAMPLE") == [
                "10 naïve 41 1.0.255 0.5", "11 patched -  0.5", "12 x\u{0}y -9223372036854775808 - 0.5",
            ])
        #expect(try writer.insert("Sample").objectID.key == 13)
    }

    @Test("the current row is read in place")
    func standing() throws {
        let store = try TestStore()
        let context = store.reader()
        let source = try SourceRows([[.integer(1), .text("a"), .integer(30)], [.integer(2), .null, .null]])
        let layout = store.map.layout
        let table = try #require(layout.table(of: "Person"))
        var cells = [Int](repeating: -1, count: table.columns.count)
        cells[0] = 0
        for (name, cell) in [("name", 1), ("age", 2)] {
            let column = try #require(layout.column(of: name, in: "Person"))
            cells[try #require(table.columns.firstIndex(of: column))] = cell
        }
        let entity = try context.number(of: "Person")
        for (row, expected) in [("a", 30), nil].enumerated() as EnumeratedSequence<[(String, Int64)?]> {
            try source.load(row)
            let person = context.object(with: ObjectID(side: .destination, entity: entity, key: Int64(row + 1)))
            context.stand(on: person.objectID, view: source.view, cells: cells, row: row)
            #expect(try person.string("name") == expected?.0)
            #expect(try person.integer("age") == expected?.1)
            // Neither selected nor in the store.
            #expect(throws: ObjectError.self) { try person.object("spouse") }
        }
    }
}
