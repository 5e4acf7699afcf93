import CausewayEvaluation
package import CausewaySQLiteFile

/// Associations in the order in which they were recorded: what an interrupted run must leave, so that the next can look
/// them up. The progress of a step names the valid part.
package struct AssociationJournal: Sendable {
    /// Source entity, source key, mapping, destination entity (0: none was made), destination key, rows of a run (0: it
    /// is no run, −1: nor does it come from the source row's own hook).
    package static let columnCount = 6
    /// In the last column: an object that another hook than the source row's own has associated with it.
    static let further: Int64 = -1

    /// One array per column, all of the same length.
    package var columns: [[Int64]]
    /// Rows that are found by a value.
    package var shared: [Shared] = []
    /// Approximate bytes of the values of `shared`.
    package private(set) var sharedBytes = 0

    /// The key of a row that is found by an attribute's value.
    package struct Shared: Sendable {
        package var entity: Int32
        package var attribute: String
        package var value: CellValue
        package var key: Int64

        package init(entity: Int32, attribute: String, value: CellValue, key: Int64) {
            self.entity = entity
            self.attribute = attribute
            self.value = value
            self.key = key
        }
    }

    package init() {
        columns = Array(repeating: [], count: Self.columnCount)
    }

    package var count: Int { columns[0].count + shared.count }

    mutating func append(_ row: Shared) {
        shared.append(row)
        switch row.value {
        case .null: break
        case .integer, .real: sharedBytes += 8
        case .text(let text): sharedBytes += text.utf8.count
        case .blob(let bytes): sharedBytes += bytes.count
        }
    }

    mutating func append(source: ObjectID, mapping: Int, entity: Int32?, key: Int64, isFurther: Bool) {
        columns[0].append(Int64(source.entity))
        columns[1].append(source.key)
        columns[2].append(Int64(mapping))
        columns[3].append(Int64(entity ?? 0))
        columns[4].append(key)
        columns[5].append(isFurther ? Self.further : 0)
    }

    mutating func append(_ run: AssociationRun) {
        columns[0].append(Int64(run.sourceEntity))
        columns[1].append(run.source)
        columns[2].append(Int64(run.mapping))
        columns[3].append(Int64(run.entity))
        columns[4].append(run.destination)
        columns[5].append(run.count)
    }
}
