import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayStores

/// Links that follow from the source's and from new keys: of a to-one that is chosen when the row is made, where the
/// rows to which it can lead were made before, and of join tables once all rows are made.
extension StageRun {
    /// Whether workers form the rows of a mapping without code.
    private func isMapped(_ plan: EntityMappingPlan) -> Bool { isByPages(plan) && plan.columns != nil }

    /// Whether the rows to which a link can lead have keys when it is chosen; stage 2 looks it up otherwise.
    func isKnown(_ choice: EntityMappingPlan.LinkChoice, of plan: EntityMappingPlan) throws(EngineError) -> Bool {
        guard isMapped(plan) else { return false }
        return try areKnown(Set(choice.options.flatMap(\.targets.values)))
    }

    /// Whether the rows at both ends of a join table have keys once stage 1 is over; stage 2 looks them up otherwise.
    func isKnown(_ translation: ObjectStep.JoinTranslation) throws(EngineError) -> Bool {
        try areKnown(Set(translation.parts.flatMap { $0.owners + $0.targets }))
    }

    /// Whether associations show objects of which the plan doesn't know, and which a look-up by relationship finds: a
    /// policy has associated some with source rows that its mapping doesn't read. What policies make of other entities
    /// the plan expects.
    func hasUnknownObjects() -> Bool {
        mappings.contains { plan in
            associations.sourceEntities(of: plan.index).contains {
                $0 != plan.sourceEntity && !plan.sourceEntities.contains($0)
            }
        }
    }

    /// Links whose ends get new keys: looked up in stage 2 where these can't be held.
    func translateLinks() throws(EngineError) {
        let translations = run.objects.translations
        // How much else there is to link isn't known yet.
        let isAll = !mappings.contains { needsRelating($0) }
        for (index, translation) in translations.enumerated() {
            guard try isKnown(translation) else {
                for (mapping, fill) in translation.relationships { session.relate(fill, inStage2Of: mapping) }
                continue
            }
            run.events(.phaseBegan("relationships"))
            try LinkTranslation(model: self, translation: translation, place: index) { part in
                guard isAll else { return }
                // Then comes the search for links that lead to no row.
                run.events(.advanced(share: 0.75 * (Double(index) + part) / Double(translations.count)))
            }.make()
        }
    }

    private func areKnown(_ places: Set<Int>) throws(EngineError) -> Bool {
        for place in places where mappings[place].keeping != .always {
            guard isMapped(mappings[place]), try keys(of: place) != nil else { return false }
        }
        return true
    }

    /// The new keys of a mapping's rows; nil where there are too many runs of them.
    func keys(of mapping: Int) throws(EngineError) -> KeyRuns? {
        if let known = keyRuns.byMapping[mapping] { return known }
        let runs = try EngineError.at(mappings[mapping].description.name) {
            try associations.runs(of: mapping, atMost: KeyRuns.mostRuns)
        }
        let keys = runs.map { KeyRuns($0) }
        keyRuns.byMapping[mapping] = .some(keys)
        return keys
    }

    /// What chooses the links of a mapping's rows; NULL for all of them where stage 2 must look them up.
    func chooser(
        _ choice: EntityMappingPlan.LinkChoice, of plan: EntityMappingPlan
    ) throws(EngineError) -> LinkChooser {
        var choice = choice
        if try !isKnown(choice, of: plan) { choice.options = [] }
        let map = run.objects.destination
        return try LinkChooser(choice, mappings) { place throws(EngineError) in
            try keys(of: place)
        } largestKept: { entity in
            map.table(of: entity).map { lastKeys[$0] } ?? .max
        }
    }
}
