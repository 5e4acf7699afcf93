import CausewayPlanning
import CausewayStores

/// Moves the rows of tables: the seam under which statements work today, and pages will.
///
/// A loader decides nothing about rows: what becomes of each is in the work. It resumes where an earlier run ended, and
/// makes the same rows however it is cut into batches, workers and runs.
protocol TableLoader {
    /// Fills the tables, in the order given.
    ///
    /// - Parameters:
    ///   - works: what is done for each table.
    ///   - progress: rows and bytes read so far over all steps; raised as rows are read.
    /// - Returns: of every pass what it has moved, what earlier runs moved included, in the order of the passes.
    /// - Throws: the first failure; what was moved before it is saved, as far as the step's progress says.
    func load(_ works: [TableWork], _ progress: inout Progress) throws(EngineError) -> [PassCount]
}
