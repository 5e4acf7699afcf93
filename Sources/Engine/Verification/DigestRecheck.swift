import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Recomputes every pass's digests from the source and the new store, each read with plain SELECTs, and compares them
/// with the passes' own; where these have spliced rows, the source's with the new store's.
///
/// Cost: each of the two stores is read once.
struct DigestRecheck {
    let verification: Verification
    /// The new store's schema.
    let result: StoreSchema

    private var written: WrittenRows { verification.written }
    /// By pass, what the source has, where a pass has counted rows and cells but not digested them.
    private var reread: [String: PassDigest] = [:]
    private var isUTF8: Bool { verification.source.isUTF8 }

    init(verification: Verification, result: StoreSchema) {
        self.verification = verification
        self.result = result
    }

    /// Compares all passes.
    mutating func run(source: borrowing Connection, result: borrowing Connection, _ outcome: inout Verification.Outcome)
        throws
    {
        var progress = progress(outcome)
        for count in written.passes {
            let now = try PassDigest(
                rereading: count.pass, in: source, isUTF8: isUTF8,
                leavingOut: written.quarantined.keys(of: count.pass.id), cancellation: verification.cancellation)
            if !count.digest.isSummed { reread[count.pass.id] = now }
            for difference in PassDigest.difference(digest(of: count), .source, now, .source) {
                outcome.add("\(difference) (source read again)", table: count.pass.destinationTable)
            }
            progress.add(count.written)
        }
        // Handlers change rows of entities; these were counted before.
        for pass in verification.step.keptPasses
        where written.stage == nil || pass.kind != .entity && pass.kind != .links {
            // In the order of the table: an index of the source may be stale.
            var pass = pass
            pass.shape.order = []
            let before = try PassDigest(
                rereading: pass, in: source, isUTF8: isUTF8, cancellation: verification.cancellation)
            let after = try PassDigest(
                rereadingDestinationOf: pass, in: result, cancellation: verification.cancellation)
            for difference in PassDigest.difference(before, .source, after, .destination) {
                outcome.add(difference, table: pass.destinationTable)
            }
            progress.add(2 * Self.rows(of: pass, outcome))
        }
        for (table, counts) in destinations {
            for difference in try differences(of: counts, in: result) { outcome.add(difference, table: table) }
            for count in counts { progress.add(count.written) }
        }
    }

    /// Rows of what has been compared, as part of the verification.
    private struct RowProgress {
        let whole: Int
        let advanced: (Double) -> Void
        var done = 0

        mutating func add(_ rows: Int) {
            done += rows + 1
            let (begin, end) = Verification.recheckPart
            advanced(begin + (end - begin) * min(1, Double(done) / Double(max(1, whole))))
        }
    }

    private func progress(_ outcome: Verification.Outcome) -> RowProgress {
        let passes = written.passes.reduce(0) { $0 + 2 * ($1.written + 1) }
        let kept = verification.step.keptPasses.reduce(0) { $0 + 2 * Self.rows(of: $1, outcome) + 1 }
        return RowProgress(whole: passes + kept, advanced: verification.advanced)
    }

    /// As far as the new store's rows were counted.
    private static func rows(of pass: RowPass, _ outcome: Verification.Outcome) -> Int {
        outcome.counts[pass.destinationTable]?.values.reduce(0, +) ?? 0
    }

    /// Finds the differing rows in these destination tables.
    func rows(in tables: Set<String>, source: borrowing Connection, result: borrowing Connection) throws -> [String] {
        var findings: [String] = []
        for (table, counts) in destinations where tables.contains(table) {
            // The join rows that were removed because they led to quarantined ones aren't known one by one.
            if counts.contains(where: { $0.ended.rows > 0 }) { continue }
            for count in counts {
                findings += try RowDifferences(
                    pass: count.pass, shape: count.digest.shape, isUTF8: isUTF8,
                    isOnlyPass: counts.count == 1,
                    skipped: converted(count.pass, table: table).union(ended(counts)),
                    leftOut: written.quarantined.keys(of: count.pass.id),
                    cancellation: verification.cancellation
                ).findings(source: source, result: result)
            }
        }
        for pass in verification.step.keptPasses where tables.contains(pass.destinationTable) {
            findings += try RowDifferences(
                pass: pass, shape: DigestShape(pass), isUTF8: isUTF8, isOnlyPass: true, skipped: [],
                cancellation: verification.cancellation
            ).findings(source: source, result: result)
        }
        return findings
    }

    /// Passes by the table that they fill. Handlers may change what passes have written, and policies join tables: then
    /// only the passes' own sums are compared.
    private var destinations: [(table: String, passes: [PassCount])] {
        var result: [(table: String, passes: [PassCount])] = []
        for count in written.passes where !(written.hasObjects && count.pass.kind == .links) {
            if written.stage != nil, count.pass.kind == .entity || count.pass.kind == .links { continue }
            if let index = result.firstIndex(where: { $0.table == count.pass.destinationTable }) {
                result[index].passes.append(count)
            } else {
                result.append((count.pass.destinationTable, [count]))
            }
        }
        return result
    }

    /// A pass's digest; where it has only counted, with the sums of the source as it was read again.
    private func digest(of count: PassCount) -> PassDigest {
        guard let now = reread[count.pass.id] else { return count.digest }
        var digest = count.digest
        digest.adoptSums(of: now)
        return digest
    }

    /// Sums of the rows in a destination table against those of the passes that wrote them.
    private func differences(of counts: [PassCount], in result: borrowing Connection) throws -> [String] {
        guard let first = counts.first else { return [] }
        var expected = first.ended.applied(to: digest(of: first))
        for count in counts.dropFirst() {
            // Only join tables are filled by several passes, and all their rows are digested alike.
            guard count.digest.shape.valueCount == expected.shape.valueCount else {
                return ["\(first.pass.destinationTable): passes of different forms fill it; they can't be compared"]
            }
            expected.merge(count.ended.applied(to: digest(of: count)))
        }
        var now = try PassDigest(
            rereadingDestinationOf: first.pass, in: result, cancellation: verification.cancellation)
        now.adoptSums(of: expected, columns: converted(first.pass, table: first.pass.destinationTable))
        return PassDigest.difference(expected, .destination, now, .destination)
    }

    /// Columns in which links to quarantined rows have ended: the source's values are no longer those of the new store.
    private func ended(_ counts: [PassCount]) -> Set<String> {
        var result: Set<String> = []
        for count in counts {
            for group in count.digest.shape.summed {
                for (name, place) in count.digest.shape.columns(of: group) where !count.ended.isUntouched(at: place) {
                    if let name { result.insert(name) }
                }
            }
        }
        return result
    }

    /// Columns whose declared types make SQLite keep the same value differently in the two stores, although the recipe
    /// doesn't convert it: only the number of values can be compared. None in stores that Core Data made: the type of
    /// an attribute is part of its hash.
    private func converted(_ pass: RowPass, table: String) -> Set<String> {
        guard let from = verification.source.schema.table(pass.sourceTable), let to = result.table(table) else {
            return []
        }
        var converted: Set<String> = []
        for projection in pass.projections.values {
            for (output, recipe) in projection.cells.enumerated() {
                let input: Int
                switch recipe {
                case .carry(let cell), .converted(let cell, _, _): input = cell
                default: continue
                }
                guard case .column(let name) = pass.shape.cells[input],
                    let old = from.position(of: name.name), let new = to.position(of: pass.destinationColumns[output])
                else { continue }
                let (before, after) = (Affinity(from.columns[old].declaredType), Affinity(to.columns[new].declaredType))
                // A number has been converted; a column of numbers can't hold a text that looks like one.
                if case .converted = recipe, before == .numeric || before == .real { continue }
                if before != after { converted.insert(pass.destinationColumns[output]) }
            }
        }
        return converted
    }
}
