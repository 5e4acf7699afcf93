import CausewayStores

/// Why a row is bad. Contains names and numbers, never content.
struct BadRow: Error, Sendable {
    /// Codes of Core Data, as lines of rejected rows have them.
    enum Code: Int, Sendable {
        /// `NSValidationMissingMandatoryPropertyError`
        case missingMandatoryProperty = 1570
        /// `NSMigrationError`
        case migration = 134_110
    }

    let code: Code
    /// The attribute or column, if there is one.
    let property: String?
    /// A clause about the row.
    let reason: String
    /// The advice if it stops the run.
    var remedy = "repair or delete the row in a copy of the store, or leave it out with --bad-rows quarantine"
}

extension EngineError {
    /// A bad row that stops the run.
    init(_ row: BadRow, table: String, key: Int64) {
        self.init(.sourceData, "table \(table), row \(key): \(row.reason)", remedy: row.remedy)
    }
}
