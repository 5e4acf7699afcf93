import CausewaySQLite
import CausewayStoreFormat

/// Inserts the rows of one join table, owner by owner.
struct JoinWriter: ~Copyable {
    private let name: String
    private let link: JoinLink
    private var statement: Statement
    /// Parameters of the order keys; nil where the side isn't ordered.
    private let ownerOrder: Int?
    private let partnerOrder: Int?

    init(_ table: JoinTable, _ link: JoinLink, on connection: borrowing Connection) throws(GenerationError) {
        name = table.name
        self.link = link
        let columns = table.columns
        ownerOrder = table.ownerOrderColumn == nil ? nil : 3
        partnerOrder = table.destinationOrderColumn == nil ? nil : columns.count
        statement = try connection.insertion(into: table.name, columns)
    }

    /// - Returns: how many rows.
    mutating func write(owner: Int) throws(GenerationError) -> Int {
        let key = Int64(link.owners.row(at: owner).key)
        let partners = link.partners
        var count = 0
        try GenerationError.wrapping(name) {
            try link.formula.forEachPartner(of: owner) { (partner, rank, ownerRank) throws(SQLiteError) in
                try statement.bind(key, at: 1)
                try statement.bind(Int64(partners.row(at: partner).key), at: 2)
                if let ownerOrder { try statement.bind(Int64(OrderKey.value(ofRank: ownerRank)), at: ownerOrder) }
                if let partnerOrder { try statement.bind(Int64(OrderKey.value(ofRank: rank)), at: partnerOrder) }
                try statement.run()
                count += 1
            }
        }
        return count
    }
}
