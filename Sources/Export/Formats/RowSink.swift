import CausewayStores

/// A format of rows: a file for each entity.
protocol RowSink: AnyObject {
    /// Begins an entity's rows.
    /// - Returns: the name of their file; nil for a stream.
    func begin(_ shape: EntityShape) throws(EngineError) -> String?
    /// Writes a row; `links` gives its to-manys, nil where they aren't known.
    /// - Returns: false where nobody reads any more.
    func write(_ key: Int64, _ values: [ExportValue], links: LinkReader?) throws(EngineError) -> Bool
    /// Ends the entity's rows.
    func end() throws(EngineError)
}

/// The texts of objects' identities.
struct URIText {
    let storeUUID: String
    /// In Z_ENT order.
    let entities: [String]

    func text(_ link: ObjectLink) -> String {
        let place = Int(link.entity) - 1
        let name = entities.indices.contains(place) ? entities[place] : String(link.entity)
        return "x-coredata://\(storeUUID)/\(name)/p\(link.key)"
    }
}
