public import CausewayEngine
import CausewayStores

extension MigrationStatus {
    /// Reads the status; no file is changed, and the store itself isn't opened.
    ///
    /// - Parameter store: path of the store's main file, or the path that a migration's `output` will have.
    /// - Throws: `MigrationError` where neither the store nor a work directory for it can be reached.
    public init(store: String) throws(MigrationError) {
        self = try MigrationError.wrapping { () throws(EngineError) in try Self.read(store) }
    }

    private static func read(_ store: String) throws(EngineError) -> MigrationStatus {
        let existing: EngineError
        do throws(EngineError) {
            return try MigrationStatus(of: StoreLocation(existing: store))
        } catch {
            existing = error
        }
        // An output isn't there before it is complete; its work directory is.
        guard existing.kind == .missing, let location = try? StoreLocation(new: store) else { throw existing }
        let status = try MigrationStatus(of: location)
        guard status.state != .none else { throw existing }
        return status
    }
}
