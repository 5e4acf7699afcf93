import CausewayCheckpoint
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayStores

/// Steps that run together with this one: their stores are never made, and what only a store could tell is a misfit.
extension StageRun {
    final class SeenRows {
        static let part = "links read"

        /// Whether code, or an expression that chooses links, has read a link of its source row.
        var readsLinks = false

        /// Restores what an earlier run saved, and saves from now on.
        func keep(in ledger: StepLedger) throws(EngineError) {
            try ledger.keep(
                Self.part,
                restore: { reader throws(CheckpointError) in readsLinks = try reader.bool() },
                save: { [self] writer in writer.write(readsLinks) })
        }
    }

    /// Steps whose rows must give no reason to doubt that they fulfil the rules.
    var watched: [StepBetween] { run.between + [run.projected].compactMap(\.self) }

    /// The stores of a step, counted from the first that runs together.
    func stores(ofStep place: Int) -> ObjectStores {
        between.indices.contains(place)
            ? ObjectStores(
                objects: between[place].objects, storeUUID: stores.storeUUID, external: stores.external, now: stores.now
            )
            : stores
    }

    /// All rows of the steps between are made. A run that goes on looks at those of earlier runs once more.
    func endBetween(_ rows: RowPages) throws(EngineError) {
        if watched.contains(where: \.asksAgain) {
            for step in watched { step.lookAgain() }
            for place in run.step.methods.mappingsByPages {
                let together = run.step.mappingsTogether(with: mappings[place])
                if together.count > 1 {
                    if place == together.last?.index { try JointPass(self, together, into: rows).look() }
                } else if let pass = try MappedPass(self, mappings[place], into: rows) {
                    try pass.look()
                } else {
                    try RowWay(self, mappings[place], to: .taken(.create))?.look()
                }
            }
        }
        for step in watched { try step.end() }
        for step in between { try step.policies?.end() }
        if mappings.contains(where: \.choosesByLinks) { seen.readsLinks = true }
        try checkLinks(session)
    }

    /// - Throws: a misfit where code has asked for what isn't there.
    func checkAsked(_ session: MigrationSession, by plan: EntityMappingPlan) throws(EngineError) {
        guard !run.before.isEmpty, session.source.asked.others else { return }
        throw EngineError(asking: plan, run.step.versions)
    }

    /// A link that leads to no row ends in a store, and code may have seen that it doesn't.
    ///
    /// - Throws: a misfit where that may be.
    func checkLinks(_ session: MigrationSession) throws(EngineError) {
        guard let last = between.last, last.showsLinks else { return }
        if session.source.asked.links { seen.readsLinks = true }
        guard seen.readsLinks else { return }
        if last.mayEndLinks == nil {
            // An earlier run has made the rows.
            last.lookAgain()
            for place in run.step.methods.mappingsByPages {
                try RowWay(self, mappings[place], to: .taken(.create))?.look()
            }
            try last.end()
        }
        guard last.mayEndLinks == true else { return }
        throw EngineError(
            apart: "links of “\(run.step.versions.first ?? "")” that are read may lead to no row", run.step.versions)
    }
}

extension EntityMappingPlan {
    /// Whether links of its rows depend on which links of their source rows lead anywhere.
    var choosesByLinks: Bool { choices.contains { $0.options.contains { $0.condition != nil } } }
}

extension EngineError {
    /// Steps that run together must run one by one.
    init(apart reason: String, _ versions: [String]) {
        self.init(.verification, "\(versions.joined(separator: " → ")): \(reason)", remedy: "run again with --no-fuse")
        isMisfit = true
    }
}
