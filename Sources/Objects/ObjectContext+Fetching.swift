import CausewayEvaluation
import CausewayPlanning
import CausewaySQLite

/// Fetching: in batches, so that memory doesn't grow with the result.
extension ObjectContext {
    /// Lends each object of the result to a closure.
    ///
    /// The result is the store's content when the fetch begins, whatever the batch size: objects that the closure makes
    /// or changes neither join nor leave it; deleted ones are skipped. Objects that the closure makes or changes are
    /// written after every batch. Between batches objects are released, and found again when they are used.
    ///
    /// - Parameters:
    ///   - request: which objects.
    ///   - body: called for one object after another.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read; what `body` throws.
    public func forEach(_ request: FetchRequest, _ body: (ManagedObject) throws -> Void) throws {
        let fetch = try PreparedFetch(request, in: self)
        try visit(fetch, loadingRows: true) { id throws in try body(ManagedObject(context: self, objectID: id)) }
    }

    /// All objects of the result at once; for results that fit into memory.
    ///
    /// - Parameter request: which objects.
    /// - Returns: the objects in the request's order.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read.
    public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
        let fetch = try PreparedFetch(request, in: self)
        var result: [ManagedObject] = []
        try visit(fetch, loadingRows: fetch.predicate != nil) { id in
            result.append(ManagedObject(context: self, objectID: id))
        }
        return result
    }

    /// How many objects the result has.
    ///
    /// - Parameter request: which objects.
    /// - Returns: their number.
    /// - Throws: `ObjectError` where the request doesn't fit the model or the store can't be read.
    public func count(_ request: FetchRequest) throws -> Int {
        let fetch = try PreparedFetch(request, in: self)
        var count = 0
        if fetch.predicate != nil {
            try visit(fetch, loadingRows: true) { _ in count += 1 }
            return count
        }
        try flush(before: fetch)
        try ObjectError.at("counting \(request.entityName)") {
            let box = try fetch.statements.statement(
                "SELECT count(*) FROM \(map.tables[fetch.table].name) WHERE \(fetch.conditions)")
            try fetch.bind(to: box)
            count = Int(try box.number() ?? 0)
        }
        return min(count, max(0, request.fetchLimit ?? .max))
    }

    /// Writes, if something in memory belongs to the fetched table.
    private func flush(before fetch: PreparedFetch) throws(ObjectError) {
        if tables[fetch.table].hasChanges { try flush() }
    }

    private func visit(_ fetch: PreparedFetch, loadingRows: Bool, _ body: (ObjectID) throws -> Void) throws {
        try flush(before: fetch)
        var left = max(0, fetch.request.fetchLimit ?? .max)
        guard left > 0 else { return }
        let seen = deletions
        let keys = try keys(of: fetch)
        defer { keys.end(in: self) }
        while left > 0 {
            // If SQLite evaluates everything, it reads no row in vain.
            let limit = max(1, min(fetch.request.fetchBatchSize, keys.isChosen(fetch) ? left : .max))
            let batch = try keys.next(limit, of: fetch, loadingRows: loadingRows, in: self)
            if batch.isEmpty { return }
            for id in batch where left > 0 {
                if deletions != seen, try !exists(id) { continue }
                guard try keys.isChosen(fetch) || fetch.matches(id) else { continue }
                left -= 1
                try body(id)
            }
            if loadingRows {
                try flush()
                if !isWritable { forget() }
            }
        }
    }

    /// The source of the result: the table itself in the order of its keys, if the closure can't change the result; an
    /// open statement; or a list of keys on disk.
    private func keys(of fetch: PreparedFetch) throws -> any FetchedKeys {
        guard case .writable(let source, _) = mode else {
            if fetch.request.sort.isEmpty { return TableKeys(upTo: .max) }
            return try StatementKeys(fetch, side: side, map: map)
        }
        if fetch.request.sort.isEmpty, fetch.request.predicate == nil {
            return TableKeys(upTo: source.keys.maximum(in: fetch.table))
        }
        return try ListedKeys(fetch, in: self)
    }
}
