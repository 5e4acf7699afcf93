/// The rows of tables that stay, as they were found when these were copied.
struct KeptRows: Hashable, Sendable {
    /// By the new table's name.
    var tables: [String: Int] = [:]
    /// By the new store's entity numbers.
    var entities: [Int: Int] = [:]
}
