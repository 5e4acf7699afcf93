import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// Everything that speaks against carrying a mirror: choices, steps, and tables that aren't as Core Data makes them.
struct MirrorRefusals {
    let request: MigrationRequest
    let runs: [StepChain.Run]
    let schema: StoreSchema

    var all: [String] { choices + steps + tables }

    /// What to do about them.
    var remedy: String {
        if steps.isEmpty {
            return tables.isEmpty
                ? "leave --bad-rows out, and fix these rows first" : "let the application migrate the store"
        }
        return Self.remedy
    }

    /// What to do about steps.
    static let remedy = "add new properties or entities beside the old ones, and let the app move values"

    private var steps: [String] {
        var earlier: [ManagedObjectModel] = []
        return runs.flatMap { reasons($0, &earlier) }
    }

    private var choices: [String] {
        request.badRows == .quarantine
            ? ["--bad-rows quarantine would leave objects out whose records stay in the cloud"] : []
    }

    /// `earlier` are the versions of the path so far; those of the run are added.
    private func reasons(_ run: StepChain.Run, _ earlier: inout [ManagedObjectModel]) -> [String] {
        var result: [String] = []
        switch run.content {
        case .explicit:
            result.append(
                "\(run.versions.joined(separator: " → ")): it has a mapping model, and steps must be inferred")
        case .inferred(_, let steps):
            for (place, step) in steps.enumerated() {
                let title = run.versions[place...].prefix(2).joined(separator: " → ")
                let rules = MirrorRules(step: step)
                result += (rules.refusals + rules.returns(after: earlier)).map { "\(title): \($0)" }
                earlier.append(step.source)
            }
        }
        if !run.handlers.isEmpty {
            result.append("\(run.versions.joined(separator: " → ")): a custom stage changes objects beside the history")
        }
        return result
    }

    private var tables: [String] {
        CloudKitTables.names(in: schema).sorted().compactMap { schema.table($0) }.flatMap { (table) -> [String] in
            let known = CloudKitTable(table)
            guard known.isOrdinary else { return ["table \(table.name) isn't as Core Data makes it"] }
            guard renumbers else { return [] }
            return known.doubtfulColumns.map {
                "\(table.name).\($0) may hold entity numbers, which change: no document says what it is"
            }
        }
    }

    /// Whether an entity gets another number.
    private var renumbers: Bool {
        runs.contains { run in
            guard case .inferred(_, let steps) = run.content else { return false }
            return steps.contains { step in
                let after = step.destination.entitiesInStoreOrder()
                return step.source.entitiesInStoreOrder().enumerated().contains { place, name in
                    after.firstIndex(of: name).map { $0 != place } ?? false
                }
            }
        }
    }
}
