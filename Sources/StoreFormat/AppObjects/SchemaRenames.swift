/// The new store's names for the tables and columns of the source.
package struct SchemaRenames: Sendable {
    /// A table whose rows a table of the new store gets.
    package struct Table: Sendable {
        package let name: String
        package let newName: String
        /// Every column of the source's table; nil where the new one has no such column.
        package let columns: [(name: String, newName: String?)]
        /// Columns with entity numbers that change in the new store.
        package let renumbered: Set<String>

        package init(
            name: String, newName: String, columns: [(name: String, newName: String?)], renumbered: Set<String>
        ) {
            self.name = name
            self.newName = newName
            self.columns = columns
            self.renumbered = renumbered
        }

        var isChanged: Bool { name != newName || columns.contains { $0.name != $0.newName } }
    }

    /// By lower-cased name. A table that is neither here nor among `gone` keeps its name and columns.
    package var tables: [String: Table]
    /// Lower-cased names of tables that the new store doesn't have.
    package var gone: Set<String>

    package init(tables: [Table] = [], gone: Set<String> = []) {
        self.tables = Dictionary(tables.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        self.gone = gone
    }

    /// The table's name in the new store.
    func newName(of table: String) -> String { tables[table.lowercased()]?.newName ?? table }
}
