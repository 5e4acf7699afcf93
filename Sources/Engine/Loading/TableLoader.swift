import CausewayPlanning
import CausewayStores

/// Moves the rows of tables: the seam under which pages and statements work.
///
/// A loader decides nothing about rows: the work says what happens to each. It resumes where an earlier run ended, and
/// makes the same rows for any number of batches, workers and runs.
protocol TableLoader {
    /// Fills the tables, in this order; what every pass has moved is in the step's state.
    ///
    /// - Parameters:
    ///   - works: what is done for each table.
    ///   - progress: rows and bytes read so far over all steps; raised as rows are read.
    /// - Throws: the first failure; what was moved before it is saved, as far as the step's progress says.
    func load(_ works: [TableWork], _ progress: inout Progress) throws(EngineError)
}
