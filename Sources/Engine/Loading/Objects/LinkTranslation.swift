import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewayStores

/// Makes the links of a join table from those of the source, in the order of their keys: rows aren't read again,
/// nothing is looked up for a link, and the new table grows at its end.
struct LinkTranslation {
    let model: StageRun
    let translation: ObjectStep.JoinTranslation
    /// Its place in the step.
    let place: Int
    /// Told after each batch which part of the links is made, from 0 to 1.
    let advanced: (Double) -> Void

    /// Links that are read at a time.
    private static let batchRows = 4_096

    private typealias Link = (owner: Int64, target: Int64)

    /// The new keys of the rows at one end.
    private struct Keys {
        let changed: [KeyRuns]
        /// The largest key that a row can have kept; nil where none does.
        let largestKept: Int64?

        /// The new row of a source row; nil where none was made. Whether a row that would keep its key was made isn't
        /// asked here: links that lead to none end afterwards, all at once.
        func row(of key: Int64) -> Int64? {
            for runs in changed {
                if let found = runs.destination(of: key) { return found }
            }
            // A link to no row may have a key that a new row gets.
            guard let largestKept, key <= largestKept else { return nil }
            return key
        }
    }

    private var run: ObjectRun { model.run }
    private var title: String { "\(translation.link.table)" }

    func make() throws(EngineError) {
        var insert = try EngineError.at(title) {
            let link = translation.link
            return try model.staging.connection.prepare(
                "INSERT OR IGNORE INTO \(link.table) (\(link.mine), \(link.theirs)) VALUES (?1, ?2)")
        }
        let parts = Double(translation.parts.count)
        for (index, part) in translation.parts.enumerated() {
            guard case .open(let cursor) = try run.ledger.enter("links \(place).\(index)") else { continue }
            try make(part, after: cursor, with: &insert) { advanced((Double(index) + $0) / parts) }
            try run.ledger.leave()
        }
    }

    private func make(
        _ part: ObjectStep.JoinTranslation.Part, after begun: StepLedger.Cursor?,
        with insert: inout Statement, advanced: (Double) -> Void
    ) throws(EngineError) {
        let expected = try EngineError.reading(run.source.location.path) {
            try run.source.connection.largestRowid(of: part.link.table)
        }
        let (owners, targets) = (try keys(of: part.owners), try keys(of: part.targets))
        var cursor = begun ?? StepLedger.Cursor()
        var select = try statement(part.link, after: cursor)
        var more = true
        while more {
            try run.cancellation.check()
            let links = try next(of: &select)
            // After its last row the statement would begin again.
            more = links.count == Self.batchRows
            guard let last = links.last else { break }
            run.ledger.depart()
            for link in links {
                guard let owner = owners.row(of: link.owner) else { continue }
                guard let target = targets.row(of: link.target) else {
                    model.run.state.objects.endedLinks += 1
                    continue
                }
                try EngineError.at(title) {
                    try insert.bind(owner, at: 1)
                    try insert.bind(target, at: 2)
                    try insert.run()
                }
            }
            cursor.rows += links.count
            (cursor.key, cursor.ordinal) = (last.owner, last.target)
            try run.ledger.advance(to: cursor)
            advanced(min(1, Double(cursor.rows) / Double(max(1, expected))))
        }
    }

    /// Reads the table itself: an index with damage may have other keys than the rows.
    private func statement(
        _ link: JoinStorage, after cursor: StepLedger.Cursor
    ) throws(EngineError) -> Statement {
        try EngineError.reading(run.source.location.path) {
            var statement = try run.source.connection.prepare(
                """
                SELECT \(link.mine), \(link.theirs) FROM \(link.table) NOT INDEXED \
                WHERE typeof(\(link.mine)) = 'integer' AND typeof(\(link.theirs)) = 'integer' \
                AND (?1 = 0 OR (\(link.mine), \(link.theirs)) > (?2, ?3)) ORDER BY \(link.mine), \(link.theirs)
                """)
            try statement.bind(cursor.rows, at: 1)
            try statement.bind(cursor.key, at: 2)
            try statement.bind(cursor.ordinal, at: 3)
            return statement
        }
    }

    private func next(of statement: inout Statement) throws(EngineError) -> [Link] {
        var links: [Link] = []
        links.reserveCapacity(Self.batchRows)
        // Before the first link, SQLite sorts all of them.
        try run.cancellation.interrupting(run.source.connection.interruptHandle) { () throws(EngineError) in
            do throws(SQLiteError) {
                while links.count < Self.batchRows, try statement.step() {
                    links.append((statement.int64(at: 0), statement.int64(at: 1)))
                }
            } catch {
                throw EngineError(reading: error, during: run.source.location.path)
            }
        }
        return links
    }

    private func keys(of mappings: [Int]) throws(EngineError) -> Keys {
        var changed: [KeyRuns] = []
        var largest: Int64?
        for place in mappings {
            let plan = model.mappings[place]
            if plan.keeping == .always {
                let table = plan.destinationEntity.flatMap { run.objects.destination.table(of: $0) }
                largest = max(largest ?? 0, table.map { model.lastKeys[$0] } ?? 0)
            } else if let runs = try model.keys(of: place) {
                changed.append(runs)
            }
        }
        return Keys(changed: changed, largestKept: largest)
    }
}
