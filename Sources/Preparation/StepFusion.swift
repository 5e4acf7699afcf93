import CausewayMapping
import CausewayObjects
package import CausewayPlanning
import CausewayStoreFormat
import CausewayStores

/// Which steps with mapping models run together: each row goes through all of their mappings, and of the stores between
/// only rows in hand are ever made.
///
/// What needs such a store is a barrier. Inferred steps run together with each other as one step (`StepChain`).
package struct StepFusion: Sendable {
    /// By step: why it doesn't run together with the one before it; nil where it does, and for the first.
    package let barriers: [String?]
    /// Inferred steps as they are made where they run together with mapping models before them, by their places.
    package let replacements: [Int: StepPlan]

    /// - Parameters:
    ///   - steps: of the plan, with their methods.
    ///   - handlers: what a stage does with each step's rows.
    ///   - request: what is asked for.
    /// - Throws: `.plan` where a regular expression of a model can't be compiled.
    init(_ steps: [StepPlan], _ handlers: [[StageHandler]], _ request: MigrationRequest) throws(EngineError) {
        let general = Self.barrier(request)
        var barriers: [String?] = []
        var replacements: [Int: StepPlan] = [:]
        for (index, step) in steps.enumerated() {
            guard index > 0 else {
                barriers.append(nil)
                continue
            }
            let before = replacements[index - 1] ?? steps[index - 1]
            if let general {
                barriers.append(general)
            } else if !handlers[index - 1].isEmpty {
                barriers.append("handlers of a stage see the rows before it")
            } else {
                let first = barriers.lastIndex { $0 != nil } ?? 0
                let earlier = Earlier(
                    steps: (first..<index).map { replacements[$0] ?? steps[$0] }, code: request.code)
                if step.objects != nil {
                    barriers.append(try Self.barrier(after: earlier, mapped: step))
                } else if before.objects == nil {
                    barriers.append("its mapping can't be composed with the one before it")
                } else {
                    let found = try Self.replacement(of: step, after: earlier)
                    replacements[index] = found.step
                    barriers.append(found.barrier)
                }
            }
        }
        (self.barriers, self.replacements) = (barriers, replacements)
    }

    /// The steps that run together from one on.
    package func group(from index: Int) -> Range<Int> {
        index..<(barriers.indices.dropFirst(index + 1).first { barriers[$0] != nil } ?? barriers.count)
    }

    /// How many runs there are, if all steps that may run together do.
    package var groupCount: Int { barriers.indices.count { $0 == 0 || barriers[$0] != nil } }

    private static func barrier(_ request: MigrationRequest) -> String? {
        if !request.fusesSteps { return "--no-fuse" }
        if request.verification == .full { return "--verify full compares the store of each step" }
        return request.keyMap == nil ? nil : "--key-map tells the keys of each version"
    }

    /// Steps that run together, and another that may follow them.
    private struct Earlier {
        let steps: [StepPlan]
        let code: MigrationCode

        var last: StepPlan { steps[steps.count - 1] }

        /// Whether policies make rows of one of them.
        var hasPolicies: Bool { steps.contains { $0.objects?.policies.isEmpty == false } }

        /// What of the last needs a store of its own, before it or after it.
        var barrier: String? {
            let (step, isFirst, code) = (last, steps.count == 1, code)
            // The hooks of one come before the rows of the next, and may tell it something: by `userInfo`, or by what
            // the app has besides.
            let policies = step.objects?.mappings.filter { $0.description.policyClassName != nil } ?? []
            if policies.count > 1 { return "of the step before, several mappings have policies" }
            return StepFusion.barrier(of: step) { plan in
                StepFusion.barrier(of: plan, step) ?? StepFusion.barrier(ofPolicy: plan, isFirst: isFirst, code)
            }.map { "of the step before, \($0)" }
        }

        /// Whether several mappings of a step that follows would each make all rows of one pass of an inferred step.
        func barrier(dividing step: StepPlan) -> String? {
            guard let objects = step.objects, let base = steps.first, base.objects == nil else { return nil }
            let between = steps.compactMap(\.objects)
            var readers: [String: Set<[Int]>] = [:]
            for plan in objects.mappings where plan.sourceEntity != nil {
                guard let first = objects.way(to: plan, after: between)?.first, let pass = base.rows(for: first) else {
                    continue
                }
                // What one reading divides counts once.
                readers[pass.id, default: []].insert(step.mappingsTogether(with: plan).map(\.index))
                guard readers[pass.id]?.count ?? 0 > 1 else { continue }
                return "several mappings would each read all rows of \(pass.sourceTable)"
            }
            return nil
        }
    }

    /// What of a step needs a store before it: its own store is made, if no other step follows in the group.
    private static func barrier(ofLast step: StepPlan, _ code: MigrationCode) -> String? {
        barrier(of: step) { plan in barrier(ofLast: plan, step, code) }
    }

    private static func barrier(of step: StepPlan, _ reason: (EntityMappingPlan) -> String?) -> String? {
        guard let objects = step.objects else { return "it is inferred" }
        if let pass = step.passes.first { return "rows of \(pass.sourceTable) are carried" }
        if let join = objects.joins.first?.work.table { return "links of \(join) are carried" }
        if let join = objects.translations.first?.link.table { return "links of \(join) follow the new keys" }
        for plan in objects.mappings {
            if let reason = reason(plan) { return "“\(plan.description.name)”: \(reason)" }
        }
        return nil
    }

    /// Entities of a version whose rows an inferred step carries.
    private static func projected(_ before: StepPlan, by step: StepPlan) -> Set<String> {
        Set(
            before.layout.entities.filter { entity in
                guard let table = before.layout.table(of: entity), let number = before.layout.entityNumbers[entity]
                else {
                    return false
                }
                return step.rows(from: table.name)?.projections[number] != nil
            })
    }

    private static func barrier(after earlier: Earlier, mapped step: StepPlan) throws(EngineError) -> String? {
        let before = earlier.last
        if let barrier = barrier(ofLast: step, earlier.code) { return barrier }
        // Its own rules are checked in the rows that it reads.
        if before.objects == nil {
            return barrier(between: before, inferred: step) ?? earlier.barrier(dividing: step)
        }
        if let barrier = earlier.barrier(dividing: step) { return barrier }
        if let barrier = earlier.barrier { return barrier }
        if let barrier = barrier(between: before, step, try ValidationRules(before.layout)) { return barrier }
        let relating = step.objects?.mappings.first { $0.isReadAgain }
        guard earlier.hasPolicies, let relating else { return nil }
        return "“\(relating.description.name)” links rows in stage 2, and policies of steps before make them"
    }

    /// How an inferred step is made that runs together with mapping models before it, or why it doesn't.
    private static func replacement(
        of step: StepPlan, after earlier: Earlier
    ) throws(EngineError) -> (step: StepPlan?, barrier: String?) {
        let before = earlier.last
        if let barrier = earlier.barrier ?? barrier(after: before, inferred: step) { return (nil, barrier) }
        if let barrier = barrier(between: before, step, try ValidationRules(before.layout)) { return (nil, barrier) }
        do throws(PlanError) {
            let made = try step.asMappings(after: before)
            if let objects = made.objects, let barrier = barrier(written: objects, made) { return (nil, barrier) }
            if let barrier = earlier.barrier(dividing: made) { return (nil, barrier) }
            return (made, nil)
        } catch {
            throw EngineError(.plan, "\(step.versions.joined(separator: " → ")): \(error)")
        }
    }

    /// Why rows of mappings aren't written by pages.
    private static func barrier(written objects: ObjectStep, _ step: StepPlan) -> String? {
        for plan in objects.mappings {
            let choice = step.methods.mappings[plan.index]
            guard choice?.method != .pages else { continue }
            return "“\(plan.description.name)”: \(choice?.reason ?? "its rows are written by statements")"
        }
        return nil
    }

    /// What an inferred step needs of the store that mapping models make.
    private static func barrier(after before: StepPlan, inferred step: StepPlan) -> String? {
        let version = step.versions.last ?? ""
        // Nobody compiles the rules of an inferred step otherwise: one that can't be is no reason to refuse it.
        guard let rules = try? ValidationRules(step.layout) else { return "rules of “\(version)” can't be checked" }
        if !rules.uniquenessChecks.isEmpty || !rules.countChecks.isEmpty {
            return "“\(version)” has rules about several rows"
        }
        for pass in step.passes {
            guard pass.kind == .entity, step.rows(of: pass.destinationTable) != nil,
                step.rows(from: pass.sourceTable) != nil
            else { return "rows of \(pass.sourceTable) move in another way than row by row" }
            if step.methods.tables[pass.destinationTable]?.method ?? .statements == .statements {
                return "\(pass.destinationTable) is filled by statements"
            }
            for recipe in pass.projections.values.flatMap(\.cells) where !recipe.isOfRow {
                return "values of \(pass.destinationTable) are kept in another form"
            }
        }
        return nil
    }

    /// What needs the store that an inferred step makes.
    private static func barrier(between before: StepPlan, inferred step: StepPlan) -> String? {
        let version = before.versions.last ?? ""
        if let derived = before.derivedValues.first {
            return "\(derived.title) of “\(version)” is computed from all rows"
        }
        for plan in step.objects?.mappings ?? [] where plan.sourceEntity != nil {
            if let reason = barrier(of: plan, reading: version) { return reason }
            guard let table = plan.description.sourceEntity.flatMap({ before.layout.table(of: $0) }) else { continue }
            let passes = before.passes.filter { $0.kind == .entity && $0.destinationTable == table.name }
            if passes.count > 1 { return "rows of several tables become those of \(table.name)" }
            guard !passes.isEmpty else { continue }
            let choice = before.methods.tables[table.name]
            if choice?.method == .statements || choice == nil {
                return "\(table.name) of “\(version)” is filled by statements"
            }
        }
        return nil
    }

    /// What a mapping needs more of the version before than a row at a time.
    private static func barrier(of plan: EntityMappingPlan, reading version: String) -> String? {
        plan.readsOwnCells ? nil : "“\(plan.description.name)” reads more of “\(version)” than the row itself"
    }

    private static func barrier(ofLast plan: EntityMappingPlan, _ step: StepPlan, _ code: MigrationCode) -> String? {
        let policy = plan.description.policyClassName
        guard let entity = plan.sourceEntity else {
            return policy == nil ? nil : "its policy is called without source rows"
        }
        let choice = step.methods.mappings[plan.index]
        guard choice?.method == .pages else { return choice?.reason ?? "its rows are written by statements" }
        if plan.shape.onlyEntities != [Int64(entity)] { return "it reads rows of several entities" }
        if let link = plan.distantLinks.first { return "\(link) is looked up by more than the row's own links" }
        if let policy, code.policy(named: policy)?.readsOtherObjects == true {
            return "its policy asks for other rows of the version before"
        }
        return nil
    }

    private static func barrier(of plan: EntityMappingPlan, _ step: StepPlan) -> String? {
        let hasPolicy = plan.description.policyClassName != nil
        guard plan.sourceEntity != nil else { return hasPolicy ? "its policy is called without source rows" : nil }
        let choice = step.methods.mappings[plan.index]
        guard choice?.method == .pages else { return choice?.reason ?? "its rows are written by statements" }
        if plan.columns == nil, !hasPolicy, step.projected == nil {
            return "its rows follow from more than their source rows"
        }
        if plan.keeping != .always { return "its rows get new keys" }
        let links = plan.relationships + plan.choices.map(\.relationship)
        return links.first.map { "\($0.name) is looked up in the new store" }
    }

    /// What the policy of a step needs after which others come: it may make a row of each, with its key.
    private static func barrier(
        ofPolicy plan: EntityMappingPlan, isFirst: Bool, _ code: MigrationCode
    ) -> String? {
        guard let policy = plan.description.policyClassName else { return nil }
        if plan.hasStage2Hook { return "its policy links rows in stage 2" }
        guard !isFirst, code.policy(named: policy)?.readsOtherObjects == true else { return nil }
        return "its policy asks for other rows of the version before"
    }

    /// What needs the store between two steps.
    ///
    /// - Parameters:
    ///   - before: the first.
    ///   - step: the other.
    ///   - rules: of the version between.
    /// - Returns: nil where nothing does.
    private static func barrier(
        between before: StepPlan, _ step: StepPlan, _ rules: ValidationRules
    ) -> String? {
        let version = before.versions.last ?? ""
        if let derived = before.derivedValues.first {
            return "\(derived.title) of “\(version)” is computed from all rows"
        }
        let readers = step.objects?.mappings.filter { $0.sourceEntity != nil } ?? []
        let makers = Dictionary(grouping: before.objects?.mappings.filter { $0.sourceEntity != nil } ?? []) {
            $0.description.destinationEntity ?? ""
        }
        let several = Set(makers.filter { $0.value.count > 1 }.keys)
        for plan in readers {
            let name = plan.description.name
            if let reason = barrier(of: plan, reading: version) { return reason }
            if several.contains(plan.description.sourceEntity ?? "") {
                return "“\(name)” reads rows of several mappings"
            }
        }
        if step.objects == nil, let entity = several.sorted().first {
            return "rows of several mappings become those of \(entity)"
        }
        for plan in before.objects?.mappings ?? [] where plan.description.policyClassName != nil {
            let takers = readers.count { $0.description.sourceEntity == plan.description.destinationEntity }
            if takers > 1 { return "several mappings read what the policy of “\(plan.description.name)” makes" }
        }
        // Rows that nobody reads aren't made, and nobody would see what is wrong with them.
        let read =
            step.objects == nil ? projected(before, by: step) : Set(readers.compactMap(\.description.sourceEntity))
        for plan in before.objects?.mappings ?? [] where plan.sourceEntity != nil {
            guard let entity = plan.description.destinationEntity, !read.contains(entity) else { continue }
            return "rows of “\(version)” aren't read (\(entity))"
        }
        func reason(_ rule: Int) -> String {
            "\(before.layout.tables[rules.rules[rule].table].rootEntity).\(rules.rules[rule].property) of “\(version)”"
        }
        if let check = rules.uniquenessChecks.first { return "\(reason(check.rule)) must be unique" }
        if let check = rules.countChecks.first { return "the objects of \(reason(check.tooFew)) are counted" }
        for check in rules.rowChecks {
            guard case .fails(let test, _, _) = check.condition, !test.isOfNumbersAndLengths else { continue }
            return "\(reason(check.rule)) has a rule that only its store can check"
        }
        return nil
    }
}

extension DerivedValue {
    fileprivate var title: String { "\(table).\(column)" }
}

extension CellRecipe {
    /// Whether it can be made of any row that there may be.
    fileprivate var isOfRow: Bool {
        switch self {
        // Numbers that don't fit are found in the rows in hand.
        case .carry, .carryOr, .literal, .literalIfPresent, .entityNumber, .converted: true
        case .key(_, _, let dropped): dropped.isEmpty
        case .first(let recipe, _): recipe.isOfRow
        case .inlined, .prefixed, .historyBitmap: false
        }
    }
}
