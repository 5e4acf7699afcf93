import CausewaySQLite
import Foundation
import Synchronization

/// Asks SQLite for the query plan of every statement on the stores of one folder, and checks it. A statement that reads
/// more than a few rows for each row of another loop is a fault.
///
/// Observes the whole process, in which other tests run too: statements on files outside of the folder are ignored.
final class StatementPlans: Sendable {
    /// The statements that were explained, and what is wrong with some of them.
    struct Judgement {
        var explained = 0
        var faults: [String] = []
    }

    private let judgements = Mutex<[String: Judgement]>([:])

    /// One observer for all tests that run at the same time; it knows their folders.
    private static let shared = StatementPlans()

    /// What was judged while `body` ran, of statements on files in `folder`.
    static func judging(_ folder: URL, _ body: () async throws -> Void) async throws -> Judgement {
        let path = folder.resolvingSymlinksInPath().path(percentEncoded: false)
        shared.begin(path)
        do {
            try await body()
        } catch {
            _ = shared.end(path)
            throw error
        }
        return shared.end(path)
    }

    private func begin(_ folder: String) {
        judgements.withLock { judgements in
            if judgements.isEmpty {
                StatementObserver.set(
                    StatementObserver { connection, sql in StatementPlans.shared.see(sql, on: connection) })
            }
            judgements[folder] = Judgement()
        }
    }

    private func end(_ folder: String) -> Judgement {
        judgements.withLock { judgements in
            let result = judgements.removeValue(forKey: folder) ?? Judgement()
            if judgements.isEmpty { StatementObserver.set(nil) }
            return result
        }
    }

    private func see(_ sql: String, on connection: borrowing Connection) {
        let verb = sql.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE"].contains(verb), let path = connection.path,
            let folder = judgements.withLock({ $0.keys.first { path.hasPrefix($0) } })
        else { return }
        let faults: [String]
        do {
            faults = try QueryPlan(of: sql, on: connection).faults
        } catch {
            // A statement that doesn't compile fails by itself.
            return
        }
        judgements.withLock {
            $0[folder]?.explained += 1
            for fault in faults {
                let text = "\(fault) in: \(sql)"
                if $0[folder]?.faults.contains(text) == false { $0[folder]?.faults.append(text) }
            }
        }
    }
}

/// How SQLite runs a statement: a tree of loops and of what runs inside them.
struct QueryPlan {
    private struct Line {
        let id: Int64
        let parent: Int64
        let detail: String
    }

    private var lines: [Line] = []
    private let sql: String

    init(of sql: String, on connection: borrowing Connection) throws {
        self.sql = sql
        var statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        while try statement.step() {
            lines.append(
                Line(
                    id: statement.int64(at: 0), parent: statement.int64(at: 1),
                    detail: try statement.string(at: 3) ?? ""))
        }
    }

    /// For tests of the judgement.
    init(_ details: [(id: Int64, parent: Int64, detail: String)], sql: String = "") {
        self.sql = sql
        lines = details.map { Line(id: $0.id, parent: $0.parent, detail: $0.detail) }
    }

    var faults: [String] { faults(below: 0, isRepeated: false) }

    /// `isRepeated`: this part runs once for each row of an outer loop.
    private func faults(below parent: Int64, isRepeated: Bool) -> [String] {
        var result: [String] = []
        var loops = 0
        for line in lines where line.parent == parent {
            let detail = line.detail
            let isLoop = ["SCAN ", "SEARCH ", "MULTI-INDEX OR"].contains { detail.hasPrefix($0) }
            let isInner = isRepeated || (isLoop && loops > 0)
            if isLoop {
                if isInner, let fault = faultOfInner(detail) { result.append(fault) }
                // An automatic index. Whether SQLite makes one for a table depends on its estimate of the sizes. A
                // subquery's rows can't be found in any other way.
                let isSubquery = lines.contains {
                    "\(detail) ".hasPrefix("SEARCH \($0.detail.dropFirst(12)) ")
                        && $0.detail.hasPrefix("MATERIALIZE ")
                }
                if detail.contains("AUTOMATIC"), isRepeated || !isSubquery {
                    result.append("an index made for the statement (\(detail))")
                }
                loops += 1
            }
            // Uncorrelated subqueries run once, wherever they stand.
            let runsOnce = ["SCALAR SUBQUERY", "LIST SUBQUERY", "REUSE LIST"].contains { detail.hasPrefix($0) }
            let isCorrelated = detail.hasPrefix("CORRELATED")
            result += faults(below: line.id, isRepeated: isCorrelated || (isInner && !runsOnce))
        }
        return result
    }

    private func faultOfInner(_ detail: String) -> String? {
        if detail.hasPrefix("SCAN ") {
            return detail.hasSuffix("CONSTANT ROW") || detail.hasSuffix("CONSTANT ROWS")
                ? nil : "a scan for each row of an outer loop (\(detail))"
        }
        guard detail.hasPrefix("SEARCH ") else { return nil }
        // Finding all rows of one entity is no better than a scan, and so is finding all keys above or below one.
        let terms = detail.drop { $0 != "(" }.split(separator: " ")
        let isNarrow = terms.contains { $0.contains("=?") && !$0.contains("Z_ENT") || $0.contains("rowid=?") }
        return isNarrow ? nil : "a search of many rows for each row of an outer loop (\(detail))"
    }
}
