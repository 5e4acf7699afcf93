import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

extension Preflight {
    /// References to external files that are missing, aren't files or can't be read, and values that can't replace a
    /// file. Reads each table that may hold references once, and asks the file system once per reference.
    func externalValues() throws -> Findings {
        var findings = Findings()
        guard let external else { return findings }
        let fates = fates ?? ReferenceFates(steps: steps)
        for table in steps[0].source.tables {
            let watched = fates.watched(table.name).filter { $0.fate != .dropped }
            guard !watched.isEmpty else { continue }
            for found in try troubled(watched, in: table.name, external) { report(found, external, &findings) }
        }
        return findings
    }

    /// Rows of one entity whose attribute has one trouble.
    private struct Troubled {
        let watched: ReferenceFates.Watched
        let trouble: ExternalValues.Trouble
        var rows = FoundRows()
    }

    private func troubled(
        _ watched: [ReferenceFates.Watched], in table: String, _ external: ExternalValues
    ) throws -> [Troubled] {
        let columns = Set(watched.map(\.column)).sorted()
        let byNumber = Dictionary(grouping: watched, by: \.number)
        // A value that is inlined must have one of the two forms; a carried one may have any.
        let inlined = Set(watched.filter { $0.fate.isInlined }.map(\.column))
        var (cells, conditions): ([String], [String]) = ([], [])
        for column in columns {
            let name = try SQLIdentifier(column)
            cells.append("substr(CAST(\(name) AS BLOB), 1, \(ExternalValues.referenceLength + 1))")
            let first = "substr(CAST(\(name) AS BLOB), 1, 1)"
            conditions.append(
                inlined.contains(column) ? "(\(name) IS NOT NULL AND \(first) IS NOT x'01')" : "\(first) = x'02'")
        }
        var statement = try source.connection.prepare(
            """
            SELECT Z_PK, Z_ENT, \(cells.joined(separator: ", ")) FROM \(try SQLIdentifier(table)) \
            WHERE Z_ENT IN (\(byNumber.keys.sorted().map(String.init).joined(separator: ", "))) \
            AND \(BalancedSQL.joined(conditions, by: "OR")) ORDER BY Z_PK
            """)
        var found: [Troubled] = []
        var places: [String: Int] = [:]
        while try statement.step() {
            for watched in byNumber[Int(clamping: statement.int64(at: 1))] ?? [] {
                guard let column = columns.firstIndex(of: watched.column),
                    let value = statement.bytes(at: column + 2),
                    let trouble = try trouble(value, watched.fate, external)
                else { continue }
                let key = "\(watched.number) \(watched.column) \(trouble)"
                if places[key] == nil {
                    places[key] = found.count
                    found.append(Troubled(watched: watched, trouble: trouble))
                }
                if let place = places[key] { found[place].rows.add(statement.int64(at: 0)) }
            }
        }
        return found
    }

    private func trouble(
        _ value: [UInt8], _ fate: ReferenceFates.Fate, _ external: ExternalValues
    ) throws(EngineError) -> ExternalValues.Trouble? {
        if value.first == ExternalValues.referencePrefix { return try external.trouble(with: value) }
        return fate.isInlined && value.first != ExternalValues.inlinePrefix ? .malformed : nil
    }

    private func report(_ found: Troubled, _ external: ExternalValues, _ findings: inout Findings) {
        let (watched, rows) = (found.watched, found.rows)
        let uris = rows.keys.map { ObjectURI.of($0, watched.entity, in: source.metadata.uuid) }
        let text = """
            \(watched.entity).\(watched.attribute) \(found.trouble.complaint(in: external.directory)) in \
            \(rows.counted) (\(uris.joined(separator: ", "))\(rows.count > uris.count ? ", …" : ""))
            """
        let isListed = badRows == .quarantine && steps[0].objects == nil
        let listed = "; written to the rejects file"
        switch watched.fate {
        case .carried where isListed || !loses(found.trouble):
            // The new store lacks nothing that the source has.
            findings.notices.append("\(text): kept as they are\(isListed ? listed : "")\(policyNote)")
        case .inlined where isListed:
            findings.notices.append("\(text): NULL in the new version\(listed)")
        case .needed where isListed:
            findings.notices.append("\(text): left out\(listed)")
        default:
            findings.refuse(
                text,
                remedy: """
                    put the store's support folder back beside the store, or in inferred steps list such values in \
                    the rejects file with --bad-rows quarantine
                    """)
        }
    }

    /// Whether the new store gets no copy of a file that is there.
    private func loses(_ trouble: ExternalValues.Trouble) -> Bool {
        copiesFiles && (trouble == .notAFile || trouble == .unreadable)
    }

    /// What a policy reads isn't known.
    private var policyNote: String {
        let hasPolicies = steps.contains { $0.objects?.policies.isEmpty == false }
        return hasPolicies ? "; a policy that reads such a value stops the run" : ""
    }
}

extension ReferenceFates.Fate {
    /// Whether a step puts the file's content in the reference's place.
    fileprivate var isInlined: Bool { self == .inlined || self == .needed }
}
