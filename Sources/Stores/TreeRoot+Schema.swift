package import CausewaySQLiteFile
package import CausewayStoreFormat

extension TreeRoot {
    /// The tree of a table or an index: that of a WITHOUT ROWID table is an index
    /// (https://www.sqlite.org/fileformat2.html#representation_of_sql_tables).
    ///
    /// - Parameters:
    ///   - object: with a root page.
    ///   - schema: of which it is.
    package init(_ object: StoreSchema.Object, in schema: StoreSchema) {
        let isTable =
            object.rootPage == 1 || object.kind == .table && schema.table(object.name)?.isWithoutRowID == false
        self.init(Int(object.rootPage), isTable ? .table : .index)
    }
}
