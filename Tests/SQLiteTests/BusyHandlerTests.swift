import CausewaySQLite
import Testing

@Suite("Busy handler", .timeLimit(.minutes(60)))
struct BusyHandlerTests {
    private final class Count {
        var value = 0
    }

    /// A reader that keeps its transaction open, as an application that shows a list.
    private func reader(_ database: TemporaryDatabase) throws -> Connection {
        let reader = try database.open(.readOnly)
        try reader.begin(.deferred)
        _ = try integer("SELECT count(*) FROM t", reader)
        return reader
    }

    private func code(_ body: () throws -> Void) -> ResultCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteError)?.code
        }
    }

    @Test("it is asked until the lock is free")
    func free() throws {
        let database = try TemporaryDatabase("CREATE TABLE t (a)")
        let other = try database.open()
        try other.begin(.immediate)
        var connection = try database.open()
        let count = Count()
        connection.setBusyHandler {
            count.value += 1
            if count.value == 3 { try? other.rollback() }
            return true
        }
        try connection.begin(.immediate)
        #expect(count.value == 3)
    }

    @Test("where it gives up, the statement ends with busy; the next statement asks it again")
    func end() throws {
        let database = try TemporaryDatabase("CREATE TABLE t (a)")
        let other = try database.open()
        try other.begin(.immediate)
        var connection = try database.open()
        let count = Count()
        connection.setBusyHandler {
            count.value += 1
            return count.value % 2 != 0
        }
        for _ in 0..<2 {
            #expect(code { try connection.begin(.immediate) } == .busy)
            try connection.rollback()
        }
        #expect(count.value == 4)
    }

    @Test("while BEGIN EXCLUSIVE waits for a reader, no writer or new reader gets in; when it gives up, others may")
    func exclusive() throws {
        let database = try TemporaryDatabase("CREATE TABLE t (a)")
        let reader = try reader(database)
        let (writer, another) = (Count(), Count())
        let writing = try database.open()
        let reading = try database.open(.readOnly)
        var connection = try database.open()
        connection.setBusyHandler {
            if self.code({ try writing.begin(.immediate) }) == .busy { writer.value += 1 }
            if self.code({ _ = try integer("SELECT count(*) FROM t", reading) }) == .busy { another.value += 1 }
            return writer.value < 5
        }
        #expect(code { try connection.begin(.exclusive) } == .busy)
        #expect(writer.value == 5)
        #expect(another.value == 5)
        try writing.begin(.immediate)
        try writing.execute("INSERT INTO t VALUES (1)")
        try reader.rollback()
        try writing.commit()
        try connection.begin(.exclusive)
    }

    @Test("a timeout replaces it; removing it restores the default timeout")
    func replaced() throws {
        let database = try TemporaryDatabase("CREATE TABLE t (a)")
        let other = try database.open()
        try other.begin(.immediate)
        var connection = try database.open()
        let count = Count()
        connection.setBusyHandler {
            count.value += 1
            return false
        }
        try connection.setBusyTimeout(milliseconds: 0)
        #expect(code { try connection.begin(.immediate) } == .busy)
        connection.setBusyHandler {
            count.value += 1
            return false
        }
        connection.removeBusyHandler()
        #expect(try integer("PRAGMA busy_timeout", connection) == Int64(Hardening.defaultBusyTimeout))
        #expect(count.value == 0)
    }
}
