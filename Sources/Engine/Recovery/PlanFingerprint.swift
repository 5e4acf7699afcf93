import CausewayCheckpoint
import CausewayMapping
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// Everything that decides the resulting rows, part by part, so that a refusal can say which part differs.
///
/// The engine, batch sizes, workers, checkpoint interval and compression, verification and log level aren't included:
/// they may change between the runs of one migration.
package struct PlanFingerprint: Codable, Hashable, Sendable {
    /// Raised with every change of the results for the same rows, and of the fields of a payload (CheckpointFormat): a
    /// tool that would do the rest differently, or read it otherwise, must not resume a run. 2: numeric attributes
    /// convert, links may end where a destination changes, objects of the app's own are rewritten by SQLite. 3: the
    /// plan's values are compared, no longer their SQL. 4: links from an inverse that went up aren't fused. 5: a step
    /// says which tables pages make, and while they do, its progress is in checkpoint files. 6: digests say whether
    /// they cover all cells, and have the sum of records that were spliced; a copy's progress has what was found in its
    /// tables. 7: indexes are carried, and digests have the sums of their entries. 8: rows of mapping models become
    /// pages, segments say what they hold. 9: what they are doubted for is saved with them, and workers pack rows of
    /// mappings without code. 10: links that follow new keys are made at once. 11: keys and join tables that others
    /// set, too, are set in the order of the mappings. 12: links to rows of which no mapping tells are looked up. 13:
    /// what other hooks associate with a row follows what its own made, and a manager of the app's own has all links
    /// looked up. 14: mapping models carry derived values, and any number goes into a Boolean. 15: of two relationships
    /// that become each other's inverse one counts, filters are three-valued, the second stage adds to to-manys. 16: of
    /// several links the first that stays counts.
    static let semanticsRevision = 16

    /// The part that holds it.
    private static let revision = "the tool's semantics"

    /// Prefixes of the names of parts that Causeway derives from the others: another revision may derive them
    /// differently.
    private static let workedOut = [
        revision, "the tables of ", "the passes of ", "the mapping models of ", "values and rules of ",
    ]

    /// Options that a later revision has added, with their defaults: plans of an earlier one lack them.
    private static let addedOptions = [
        "--join-table": "", "--end-links": "no", "--cloudkit": "refuse", "--set-metadata": "",
    ]

    package struct Part: Codable, Hashable, Sendable {
        package var name: String
        package var value: String
    }

    package var parts: [Part]

    /// SHA-256 over all parts.
    var digest: [UInt8] {
        Digest256.of(Array(parts.map { "\($0.name)\u{1F}\($0.value)" }.joined(separator: "\u{1E}").utf8))
    }

    var text: String { Hexadecimal.text(digest) }

    init(_ prepared: PreparedMigration, _ request: MigrationRequest) {
        parts = [
            Part(name: Self.revision, value: String(Self.semanticsRevision)),
            Part(name: "the path", value: prepared.path.joined(separator: " → ")),
            Part(name: "the framework version", value: String(prepared.frameworkVersion)),
            Part(name: "--on-violation", value: "\(request.violations)"),
            Part(
                name: "--join-table",
                value: Set(request.joinTables.map { $0.uppercased() }).sorted().joined(separator: ", ")),
            Part(name: "--bad-rows", value: request.badRows.rawValue),
            Part(name: "--end-links", value: request.endsLinks ? "yes" : "no"),
            Part(name: "--origin", value: request.origins.map { "\($0)=\($1)" }.sorted().joined(separator: ", ")),
            Part(name: "--drop-other-models", value: request.dropsOtherModels ? "yes" : "no"),
            Part(name: "--cloudkit", value: request.cloudKit.rawValue),
            Part(name: "--set-metadata", value: Self.entries(request.metadata)),
            Part(name: "--rejects", value: request.rejects ?? ""),
            Part(name: "--key-map", value: request.keyMap ?? ""),
            Part(name: "--output", value: request.output ?? ""),
        ]
        for (index, step) in prepared.steps.enumerated() {
            let title = step.versions.joined(separator: " → ")
            add(Self.model(step.versions.last ?? ""), Self.hashes(VersionHashes(step.layout.model).entities))
            add("the tables of \(title)", Self.tables(step))
            add("the passes of \(title)", Self.passes(step))
            if let objects = step.objects { add(objects, title, request.code) }
            // Objects that code makes take the defaults; the new store's model cache has them, too.
            let isLast = index == prepared.steps.count - 1
            if step.objects != nil || !prepared.handlers[index].isEmpty || isLast {
                add("values and rules of the model “\(step.versions.last ?? "")”", Self.archive(step.layout.model))
            }
            for handler in prepared.handlers[index] {
                parts.append(Part(name: handler.title, value: "revision \(handler.stage.revision)"))
            }
        }
    }

    /// Other entries give another text: those with the separator in them are quoted.
    private static func entries(_ metadata: [String: MetadataValue]) -> String {
        metadata.sorted { $0.key < $1.key }.map { key, value in
            let entry = "\(key)=\(value)"
            return entry.contains { $0 == "," || $0 == "\"" } ? entry.debugDescription : entry
        }
        .joined(separator: ", ")
    }

    private mutating func add(_ name: String, _ content: [String]) {
        parts.append(Self.part(name, content))
    }

    private static func part(_ name: String, _ content: [String]) -> Part {
        Part(name: name, value: Hexadecimal.text(Digest256.of(Array(content.joined(separator: "\n").utf8))))
    }

    private mutating func add(_ objects: ObjectStep, _ title: String, _ code: MigrationCode) {
        add("the mapping models of \(title) (\(objects.models.joined(separator: ", ")))", Self.mappings(objects))
        for name in Set(objects.mappings.compactMap(\.description.policyClassName)).sorted() {
            let revision = code.policy(named: name)?.revision ?? 0
            parts.append(Part(name: "the policy “\(name)”", value: "revision \(revision)"))
        }
        let manager = code.managerType
        // The first revision isn't named: plans of earlier versions of the tool name none.
        let revision = manager.revision == 1 ? "" : ", revision \(manager.revision)"
        parts.append(Part(name: "the manager's class", value: "\(manager)\(revision)"))
    }

    /// The name of the part that says what a version is.
    private static func model(_ version: String) -> String { "the model “\(version)”" }

    private static func hashes(_ entities: [String: [UInt8]]) -> [String] {
        entities.sorted { $0.key < $1.key }.map { "\($0.key) \(Hexadecimal.text($0.value))" }
    }

    /// Whether a version has these entity hashes, as far as the plan says.
    func hasModel(_ version: String, of entities: [String: [UInt8]]) -> Bool {
        let part = Self.part(Self.model(version), Self.hashes(entities))
        return parts.first { $0.name == part.name }.map { $0 == part } ?? true
    }

    /// Default values, validation rules and derivations, which no version hash covers, and everything else, as in the
    /// model cache. What can't be archived is refused when the cache is written.
    private static func archive(_ model: ManagedObjectModel) -> [String] {
        do {
            return [Hexadecimal.text(Digest256.of(try ModelCacheWriter.archive(of: model)))]
        } catch {
            return ["\(error)"]
        }
    }

    /// The new store's schema, and how derived attributes are computed.
    private static func tables(_ step: StepPlan) -> [String] {
        let statements = step.statements
        return (statements.tableStatements + statements.houseStatements + statements.modelStatements).map(\.sql)
            + step.derivedValues.map(\.identity) + step.indexes.map(\.identity) + step.appObjects.compactMap(\.sql)
    }

    private static func passes(_ step: StepPlan) -> [String] {
        step.works.filter { !$0.passes.isEmpty }.map(\.identity)
            // Versions in between too: they decide which rows are bad.
            + step.mapping.entityMappings.flatMap(\.conversions).map {
                "\($0.step) \($0) of \($0.source) through \($0.conversion.types)"
            }
    }

    private static func mappings(_ objects: ObjectStep) -> [String] {
        objects.mappings.flatMap { plan in
            let mapping = plan.description
            let head = [
                mapping.name, "\(mapping.kind)", mapping.sourceEntity ?? "", mapping.destinationEntity ?? "",
                mapping.policyClassName ?? "", mapping.sourceExpression.map { "\($0)" } ?? "", plan.shape.identity,
                "\(plan.keeping)", "\(plan.hasStage2Hook)",
            ]
            let properties = (mapping.attributeMappings + mapping.relationshipMappings).map { property in
                "\(property.name) = \(property.expression.map { "\($0)" } ?? "") \(userInfo(property.userInfo))"
            }
            return [head.joined(separator: "\u{1F}"), userInfo(mapping.userInfo)] + properties
        }
    }

    private static func userInfo(_ values: [String: some Any]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// Whether another revision of the tool had the same input: path, models, options, files and the user's code.
    ///
    /// An option that a revision has added counts only if it is given: an older plan equals one without it.
    func asksForTheSame(as other: PlanFingerprint) -> Bool {
        func value(_ name: String, of parts: [Part]) -> String? { parts.first { $0.name == name }?.value }
        guard value(Self.revision, of: parts) != value(Self.revision, of: other.parts) else { return false }
        func asked(_ parts: [Part]) -> [Part] {
            parts.filter { part in
                Self.addedOptions[part.name] != part.value
                    && !Self.workedOut.contains { part.name.hasPrefix($0) }
            }
        }
        return asked(parts) == asked(other.parts)
    }

    /// The parts that differ, for a message; values that are digests aren't shown.
    func differences(from other: PlanFingerprint) -> [String] {
        var result: [String] = []
        let before = Dictionary(other.parts.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let now = Dictionary(parts.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        for part in parts where before[part.name] != part.value {
            if let earlier = before[part.name] {
                let isShort = max(earlier.count, part.value.count) < 64
                result.append(isShort ? "\(part.name): was “\(earlier)”, is “\(part.value)”" : "\(part.name) differs")
            } else if Self.addedOptions[part.name] != part.value {
                result.append("\(part.name): wasn't there")
            }
        }
        for part in other.parts where now[part.name] == nil { result.append("\(part.name): isn't there any more") }
        return result
    }
}
