import CausewaySQLite

/// Binds and inserts the rows of one table, with one buffer of each kind for all of them.
struct RowWriter: ~Copyable {
    private let plan: TablePlan
    private var statement: Statement
    private let files: OutputFiles
    private var text = TextComposer()
    private var blob: [UInt8] = []

    init(_ plan: TablePlan, on connection: borrowing Connection, files: OutputFiles) throws(GenerationError) {
        self.plan = plan
        self.files = files
        statement = try connection.insertion(into: plan.name, plan.columns)
    }

    /// Writes the row whose key is `index + 1`.
    mutating func write(_ index: Int) throws(GenerationError) {
        let (place, ordinal) = plan.keys.row(at: index)
        let row = plan.rows[place]
        for value in row.values {
            if case .external(let blobs) = value.recipe.kind, blobs.isFile(ordinal) {
                try writeFile(blobs, ordinal)
            }
        }
        try GenerationError.wrapping(plan.name) {
            statement.clearBindings()
            try statement.bind(Int64(index + 1), at: 1)
            try statement.bind(Int64(row.number), at: 2)
            try statement.bind(saves(row.saves, index), at: 3)
            for cells in row.links { try bind(cells, ordinal) }
            for value in row.values {
                try bind(value.recipe, at: value.position, RowPlace(key: index + 1, ordinal: ordinal))
            }
            try statement.run()
        }
    }

    /// Most rows were saved once.
    private func saves(_ stream: UInt64, _ index: Int) -> Int64 {
        var random = RandomStream(stream: stream, key: index)
        let bits = random.next()
        return 1 + Int64(bits & 15 == 0 ? 1 + (bits >> 4) & 7 : 0)
    }

    private mutating func bind(_ cells: LinkCells, _ ordinal: Int) throws(SQLiteError) {
        guard let target = cells.link.target(of: cells.base + ordinal) else { return }
        try statement.bind(Int64(target.key), at: cells.keyPosition)
        if let position = cells.entityPosition { try statement.bind(Int64(target.number), at: position) }
        if let position = cells.orderPosition {
            try statement.bind(Int64(OrderKey.value(ofRank: target.rank)), at: position)
        }
    }

    private mutating func bind(_ recipe: ValueRecipe, at position: Int, _ row: RowPlace) throws(SQLiteError) {
        if case .external(let blobs) = recipe.kind, blobs.isFile(row.ordinal) {
            return try bindReference(blobs.file(row.ordinal).uuid, at: position)
        }
        // Unbound parameters are NULL.
        if RandomStream.chance(recipe.stream, row.key, outOf256: recipe.missing) { return }
        var random = RandomStream(stream: recipe.stream &+ 1, key: row.key)
        switch recipe.kind {
        case .text(let kind, let bounds, let isUnique):
            text.compose(kind, bounds: bounds, isUnique: isUnique, key: recipe.number(of: row) + 1, &random)
            try bindText(at: position)
        case .fixedText(let bytes, let isUnique):
            if isUnique, recipe.number(of: row) > 0 { return }
            text.clear()
            text.append(bytes)
            try bindText(at: position)
        case .uri:
            text.compose(.address, bounds: nil, isUnique: true, key: row.key, &random)
            try bindText(at: position)
        case .binary(let isUnique):
            blob.removeAll(keepingCapacity: true)
            random.append(random.blobLength() + (isUnique ? 16 : 0), to: &blob)
            try statement.bind(blob, at: position)
        case .external:
            blob.removeAll(keepingCapacity: true)
            blob.append(ExternalBlobs.inlinePrefix)
            random.append(random.blobLength(), to: &blob)
            try statement.bind(blob, at: position)
        case .uuid:
            let uuid = RandomUUID(&random)
            blob.removeAll(keepingCapacity: true)
            for place in 0..<16 { blob.append(uuid[place]) }
            try statement.bind(blob, at: position)
        case .transformable(let archives, let isUnique):
            if isUnique {
                let number = recipe.number(of: row)
                if number < archives.count { try statement.bind(archives[number], at: position) }
                return
            }
            try statement.bind(archives[random.next(below: archives.count)], at: position)
        case .decimal(_, let hasNaN) where hasNaN && random.next(below: 512) == 0:
            try statement.bind("NaN", at: position)
        default:
            try bindNumber(recipe, at: position, row, &random)
        }
    }

    private mutating func bindNumber(
        _ recipe: ValueRecipe, at position: Int, _ row: RowPlace, _ random: inout RandomStream
    ) throws(SQLiteError) {
        switch recipe.number(row, &random) {
        case .integer(let value): try statement.bind(Int64(value), at: position)
        case .real(let value): try statement.bind(value, at: position)
        case nil: break
        }
    }

    private mutating func bindText(at position: Int) throws(SQLiteError) {
        // A reference of its own, so that lending the bytes doesn't hold the writer.
        let bytes = text.bytes
        try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(SQLiteError) in
            try unsafe statement.bindText(copying: buffer, at: position)
        }
    }

    private mutating func bindReference(_ uuid: RandomUUID, at position: Int) throws(SQLiteError) {
        text.clear()
        text.append(uuid)
        blob.removeAll(keepingCapacity: true)
        blob.append(ExternalBlobs.referencePrefix)
        blob.append(contentsOf: text.bytes)
        blob.append(0)
        try statement.bind(blob, at: position)
    }

    private mutating func writeFile(_ blobs: ExternalBlobs, _ ordinal: Int) throws(GenerationError) {
        var (uuid, length, content) = blobs.file(ordinal)
        text.clear()
        text.append(uuid)
        blob.removeAll(keepingCapacity: true)
        content.append(length, to: &blob)
        try files.writeExternal(String(decoding: text.bytes, as: UTF8.self), blob)
    }
}

extension Connection {
    /// Inserts a row of a table that the generator fills, with a parameter for each column.
    borrowing func insertion(into table: String, _ columns: [String]) throws(GenerationError) -> Statement {
        let names = columns.joined(separator: ", ")
        let parameters = (1...columns.count).map { "?\($0)" }.joined(separator: ", ")
        return try GenerationError.wrapping(table) {
            try prepare("INSERT INTO \(table) (\(names)) VALUES (\(parameters))", persistent: true)
        }
    }
}

/// Which row a value is for: Z_PK, and its number among its entity's rows, from 0.
struct RowPlace {
    let key: Int
    let ordinal: Int
}
