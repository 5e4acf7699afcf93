package import CausewayPlanning
import CausewaySQLiteFile

/// Order-independent digests of what a pass has carried: for each destination entity and carried column two sums of 64
/// bits over a hash of (key, storage class, value), the number of rows, and of cells that aren't NULL; once for the
/// rows as read from the source, once as written to the destination. Rows that were spliced have one sum over their new
/// records instead.
///
/// Sums merge in any order and any grouping, so workers digest their own batches, and a resumed pass continues with the
/// sums of its checkpoint.
package struct PassDigest: Sendable, Equatable {
    /// The two sides of a digest.
    package enum Side: Hashable, Sendable, CaseIterable {
        case source, destination
    }

    let shape: DigestShape
    /// By place in the shape.
    var source: [UInt64]
    var destination: [UInt64]
    /// Whether the sums cover all rows. Rows that were spliced, and those that nobody wants to verify, are only
    /// counted, and so are their cells, if they are verified.
    var isSummed = true
    /// Count and digest of the new records of rows that were spliced, if they are verified.
    var records = EntrySum()
    /// What the rows have in each index whose entries are carried; empty where there is none, and of no rows.
    var entries: [EntrySum] = []

    /// The digest of no rows.
    package init(_ pass: RowPass) {
        self.init(DigestShape(pass))
    }

    init(_ shape: DigestShape) {
        self.init(
            shape, source: Array(repeating: 0, count: shape.valueCount),
            destination: Array(repeating: 0, count: shape.valueCount))
    }

    init(_ shape: DigestShape, source: [UInt64], destination: [UInt64]) {
        self.shape = shape
        self.source = source
        self.destination = destination
    }

    /// Adds the rows of another digest of the same pass.
    package mutating func merge(_ other: PassDigest) {
        precondition(other.shape.valueCount == shape.valueCount, "digests of two passes can't be merged")
        for place in source.indices {
            source[place] &+= other.source[place]
            destination[place] &+= other.destination[place]
        }
        isSummed = isSummed && other.isSummed
        records.add(other.records)
        if entries.isEmpty {
            entries = other.entries
        } else {
            for (place, sum) in other.entries.enumerated() { entries[place].add(sum) }
        }
    }

    package static func == (left: PassDigest, right: PassDigest) -> Bool {
        left.source == right.source && left.destination == right.destination
    }

    /// Rows of all groups.
    package func rows(_ side: Side) -> Int {
        let values = self[side]
        return shape.summed.reduce(0) { $0 + Int(clamping: values[$1.offset]) }
    }

    subscript(side: Side) -> [UInt64] { side == .source ? source : destination }

    /// Where one side of a digest differs from one side of another of the same pass: sentences that name entity and
    /// column; empty where they agree.
    package static func difference(
        _ left: PassDigest, _ leftSide: Side, _ right: PassDigest, _ rightSide: Side
    ) -> [String] {
        precondition(left.shape.valueCount == right.shape.valueCount, "digests of two passes can't be compared")
        let (before, after) = (left[leftSide], right[rightSide])
        if before == after { return [] }
        var findings: [String] = []
        for group in left.shape.summed {
            let (expected, found) = (before[group.offset], after[group.offset])
            if expected != found {
                findings.append("\(group.entity): \(expected) rows expected, \(found) found")
            }
            for (name, place) in left.shape.columns(of: group) {
                let isEqual = before[place..<place + DigestShape.valuesPerColumn].elementsEqual(
                    after[place..<place + DigestShape.valuesPerColumn])
                if isEqual { continue }
                let what = name.map { "column \($0)" } ?? "table \(left.shape.table)"
                let (some, others) = (before[place + 2], after[place + 2])
                let detail = some == others ? "" : ", \(some) values expected and \(others) found"
                findings.append("\(group.entity): the digests of \(what) differ\(detail)")
            }
        }
        return findings
    }

    /// Where what was written differs from what was read.
    package func differenceOfSides() -> [String] {
        Self.difference(self, .source, self, .destination)
    }
}
