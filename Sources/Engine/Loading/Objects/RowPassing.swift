import CausewayObjects
import CausewayPlanning
import CausewaySQLiteFile
import CausewayStores

/// What a batch's rows become on their way.
struct PassedRows: Sendable {
    /// Rows of an inferred step that a hook takes.
    fileprivate let base = RowBatch()
    /// Rows that the inferred step drops.
    fileprivate(set) var dropped = 0
    /// Of each form.
    var made: [MappedRows]

    /// - Parameter steps: that make rows.
    init(steps: Int) { made = (0..<steps).map { _ in MappedRows() } }

    /// Keeps the memory for the next batch.
    mutating func removeAll(keepingCapacity limit: Int) {
        for place in made.indices { made[place].removeAll(keepingCapacity: limit) }
        base.removeAll(keepingCapacity: limit)
    }
}

/// Takes rows along their way; of one thread.
final class RowPassing {
    /// What makes one step's rows.
    private enum Link {
        case mapping(Making)
        case policy(PolicyRowMaker)
        case inferred(InferredRowsInspection)

        /// A class, as makers can't be copied.
        final class Making {
            var maker: MappedRowMaker

            init(_ maker: consuming MappedRowMaker) { self.maker = maker }
        }
    }

    private let base: InferredRows.Maker?
    private let links: [Link]

    /// - Parameters:
    ///   - way: that they take.
    ///   - worker: its place.
    /// - Throws: where a default is too large; a policy's error.
    init(_ way: RowWay, worker: Int) throws(EngineError) {
        base = try way.base?.makeMaker()
        var sessions: [MigrationSession] = []
        links = try Self.links(way, worker: worker, &sessions)
    }

    /// Of the rows that an inferred step has made already.
    ///
    /// - Parameters:
    ///   - way: that they take.
    ///   - worker: its place.
    ///   - sessions: of the steps, in their order, for all ways of the worker; those that aren't there are made.
    /// - Throws: a policy's error.
    init(afterInferred way: RowWay, worker: Int, sessions: inout [MigrationSession]) throws(EngineError) {
        base = nil
        links = try Self.links(way, worker: worker, &sessions)
    }

    private static func links(
        _ way: RowWay, worker: Int, _ sessions: inout [MigrationSession]
    ) throws(EngineError) -> [Link] {
        let model = way.model
        for place in way.stops.indices.dropFirst(sessions.count) {
            let stores = model.stores(ofStep: place)
            let isOfStore = place == 0 && way.base == nil
            let source = isOfStore ? stores.source(model.readers[worker]) : stores.unreadSource()
            sessions.append(stores.session(source: source, destination: stores.detached(), associations: nil))
        }
        var links: [Link] = []
        for (place, stop) in way.stops.enumerated() {
            switch stop {
            case .mapping(let form):
                links.append(.mapping(Link.Making(MappedRowMaker(form, sessions[place]))))
            case .policy(let form):
                let hook = try form.rows.makeHook(
                    model.stores(ofStep: place), reading: form.rows.isBetween ? nil : model.readers[worker],
                    model.run.code, userInfo: model.between[place].policies?.manager.userInfo ?? [:])
                links.append(.policy(PolicyRowMaker(form, hook)))
            case .inferred(let form):
                links.append(.inferred(try InferredRowsInspection(form.rows, form.questions)))
            }
        }
        return links
    }

    /// - Parameters:
    ///   - input: the store's rows.
    ///   - own: places of those that take this way; nil for all.
    ///   - limit: bytes that may be kept from the batch before.
    ///   - passed: gets what is known of the rows, and keeps the records that the writer needs.
    /// - Returns: the last records.
    /// - Throws: the first row that can't be made.
    func pass(
        _ input: RowBatch, only own: [Int]? = nil, keepingCapacity limit: Int, into passed: inout PassedRows
    ) throws(EngineError) -> RowBatch {
        let first =
            try base?.make(input, keepingCapacity: limit, into: links.isEmpty ? passed.base : nil) ?? input
        passed.dropped = base?.dropped ?? 0
        var (rows, own) = (first, own)
        for (place, link) in links.enumerated() {
            switch link {
            case .mapping(let making):
                try making.maker.make(rows, of: first, only: own, keepingCapacity: limit, into: &passed.made[place])
                rows = making.maker.records
            case .policy(let maker):
                rows = try maker.make(rows, only: own, keepingCapacity: limit, into: &passed.made[place])
            case .inferred(let maker):
                rows = try maker.make(rows, keepingCapacity: limit, into: &passed.made[place], keepsRecords: true)
            }
            own = nil
        }
        return rows
    }

    /// All rows have passed: policies that are done may have something to say.
    ///
    /// - Throws: a policy's error.
    func end() throws(EngineError) {
        for case .policy(let maker) in links { try maker.end() }
    }

    /// Ends the statements.
    func close() {
        for link in links {
            switch link {
            case .mapping(let making): making.maker.close()
            case .policy(let maker): maker.close()
            case .inferred: break
            }
        }
    }
}

/// What workers need to take rows along a way, each on its own thread.
///
/// Sendable although the way has the main thread's session: a worker uses only plans and names, and its own reader.
struct RowCrew: @unchecked Sendable {
    private let way: RowWay

    init(_ way: RowWay) { self.way = way }

    func passing(_ worker: Int) throws(EngineError) -> RowPassing { try RowPassing(way, worker: worker) }
}
