/// Writes the rows that policies and handlers make or change into a store under construction.
///
/// Written rows are visible when the context next reads from the store.
package protocol PolicyRowOutput: AnyObject {
    /// Writes the rows of every table: first what is deleted, then what is changed, then what is new, so that a new row
    /// may have a value that must be unique. Rows have their keys and places.
    func write(_ rows: PendingRows) throws(ObjectError)

    /// Writes a change of a link.
    func write(_ link: LinkWrite) throws(ObjectError)

    /// Releases the store; nothing more is written.
    func close()
}
