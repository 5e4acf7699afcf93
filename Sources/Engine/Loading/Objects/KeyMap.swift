import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlanning
import CausewayStores

/// Old and new object URIs of rows whose keys change (`--key-map`): one JSON object per line.
///
///     {"step":"v2 → v3","mapping":"PostToPost","old":"x-coredata://…/Post/p1","new":"x-coredata://…/Post/p7"}
///
/// Rows that keep their URI aren't listed, nor rows without a result. A row that was split has a line for each result;
/// a row whose key went to another row has a line with `null`.
struct KeyMap {
    private static let pageSize = 4_096

    let file: LineFile

    func write(
        _ associations: Associations, of mappings: [EntityMappingPlan], step: [String], _ session: MigrationSession
    ) throws(EngineError) {
        let json = JSONLineText(sink: file)
        for plan in mappings {
            let (versions, mapping) = (step.joined(separator: " → "), plan.description.name)
            var place: (entity: Int32, source: Int64, ordinal: Int64) = (0, .min, 0)
            while true {
                let page = try EngineError.at(file.path) {
                    try associations.everyEntry(of: plan.index, after: place, limit: Self.pageSize)
                }
                guard let last = page.last else { break }
                place = (last.source.entity, last.source.key, last.ordinal)
                for entry in page {
                    let old = session.source.uri(of: entry.source)
                    // The validation may have rejected the row.
                    let made = try EngineError.at(file.path) {
                        try entry.destination.flatMap { try session.destination.exists($0) ? $0 : nil }
                    }
                    let new = made.map { session.destination.uri(of: $0) }
                    if old == new { continue }
                    try json.members(["step": versions, "mapping": mapping, "old": old, "new": new])
                    try json.text("}\n")
                }
            }
        }
    }
}
