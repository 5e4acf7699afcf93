import CausewayPlanning
import CausewayStoreFormat

/// An index that stage 2 needs: members of to-manys are found by the keys at their other end, and without an index each
/// look-up would read the table.
struct LinkIndex {
    /// Its place among the model's statements.
    let place: Int
    let sql: String
    /// What making it costs, where to link a row costs 1.
    let weight: Double

    /// For each row of its table.
    private static let rowWeight = 0.1

    /// - Parameters:
    ///   - run: a step whose rows are made.
    ///   - rows: how many each entity has, by Z_ENT.
    /// - Returns: those that aren't there yet.
    static func needed(by run: ObjectRun, rows: [Int32: Int]) -> [LinkIndex] {
        let layout = run.step.layout
        return run.step.statements.modelStatements.enumerated().compactMap { place, statement in
            guard let index = statement.index, layout.findsMembers(index),
                !run.step.methods.makes(index: statement.name)
            else { return nil }
            // A join table has about as many rows as there are objects.
            let isOfEntities = layout.tables.contains { $0.name == index.table }
            let counted = rows.filter { entity, _ in
                guard let table = run.objects.destination.table(of: entity) else { return false }
                return !isOfEntities || layout.tables[table].name == index.table
            }
            return LinkIndex(
                place: place, sql: statement.sql, weight: Double(max(1, counted.values.reduce(0, +))) * rowWeight)
        }
    }
}
