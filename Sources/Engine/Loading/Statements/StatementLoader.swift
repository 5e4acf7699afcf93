import CausewayPlanning
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// Loads tables by statements: a SELECT of the source, an INSERT into the staging store.
struct StatementLoader: TableLoader {
    let mover: PassMover
    let staging: StagingConnection

    func load(_ works: [TableWork], _ progress: inout Progress) throws(EngineError) {
        for pass in works.flatMap(\.passes) { try mover.move(pass, &progress, way(of:)) }
    }

    private func way(of pass: RowPass) throws(EngineError) -> PassMover.Way<StatementSource, StatementSink> {
        let (source, options, staging) = (mover.source, mover.options, staging)
        mover.events(.statement(pass.shape.sql))
        return PassMover.Way<StatementSource, StatementSink>(
            limits: BatchLimits(rows: options.batchRows, bytes: options.batchBytes),
            source: { begun throws(EngineError) in
                try StatementSource.rows(
                    of: pass.shape, key: pass.key, after: begun, in: source.connection, isUTF8: source.isUTF8,
                    title: pass.title)
            },
            sink: { () throws(EngineError) in
                try StatementSink.into(
                    pass.destinationTable, columns: pass.destinationColumns, staging: staging, title: pass.title)
            })
    }
}
