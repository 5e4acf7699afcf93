/// Writes the rows that policies and handlers make or change into a store under construction.
///
/// Written rows are visible when the context next reads from the store.
package protocol PolicyRowOutput: AnyObject {
    /// Writes the rows of every table: first what is deleted, then what is changed, then what is new, so that a new row
    /// may have a value that must be unique. Rows have their keys and places.
    func write(_ rows: PendingRows) throws(ObjectError)

    /// The largest integer in a column of the rows so far.
    ///
    /// - Parameters:
    ///   - table: place in the storage map.
    ///   - column: place in the table's columns, one that holds places in an ordered relationship.
    /// - Returns: 0 where no row has one; nil where the store must be asked.
    func largestPlace(table: Int, column: Int) -> Int64?

    /// Writes a change of a link.
    func write(_ link: LinkWrite) throws(ObjectError)

    /// Releases the store; nothing more is written.
    func close()
}
