/// What `generate --json` prints.
struct GenerationReport: Encodable {
    /// The store's path as it was given.
    let store: String
    /// Rows of all entities.
    let rows: Int
    /// Rows that were asked for.
    let wantedRows: Int
    /// Rows by entity, abstract ones left out.
    let entities: [String: Int]
}
