import Causeway

/// An inspection as a person reads it.
struct InspectionText {
    let inspection: StoreInspection

    var lines: [String] {
        var lines = identity + [""] + entities
        if !inspection.joinTables.isEmpty { lines += [""] + joinTables }
        lines += ["", "Features"] + features + ["", "Size"] + sizes
        if let found = inspection.walBreak {
            lines += [
                "",
                "The -wal: \(Figures.count(found.readableCommits, "commit", "commits")) can be read, and "
                    + "\(Figures.count(found.unreadableFrames, "frame", "frames")) after them can't, since a checksum fails:",
                "after a power loss this is normal, otherwise it is damage; the file doesn't tell which",
            ]
        }
        return lines
            + listed(inspection.problems, under: "", "Problems: the tables or the metadata don't fit the model")
    }

    private var identity: [String] {
        var lines = [
            fact("Store", inspection.store),
            fact("Version", versionText(inspection.versions, inspection.models, inspection.modelOrigin)),
        ]
        if let nearest = inspection.nearest {
            lines.append(
                fact(
                    "Nearest version",
                    "\(nearest.version), which differs in \(nearest.differences.joined(separator: ", "))"))
        }
        let identifiers = inspection.versionIdentifiers.filter { !$0.isEmpty }.sorted()
        return lines + [
            fact("Version identifiers", identifiers.isEmpty ? "none" : identifiers.joined(separator: ", ")),
            fact("Version checksum", inspection.checksum),
            fact("Framework version", String(inspection.frameworkVersion)),
            fact("Store UUID", inspection.uuid),
            fact(
                "Metadata of the app",
                inspection.appMetadataKeys.isEmpty
                    ? "none" : "keys " + inspection.appMetadataKeys.joined(separator: ", ")),
        ]
    }

    private var entities: [String] {
        var table = TextTable([("Z_ENT", .trailing), ("ENTITY", .leading), ("PARENT", .leading), ("ROWS", .trailing)])
        for entity in inspection.entities {
            table.add(String(entity.number), entity.name, entity.parent ?? "", Figures.grouped(entity.rows))
        }
        if inspection.unknownRows > 0 {
            table.add("?", "(no entity of their table)", "", Figures.grouped(inspection.unknownRows))
        }
        let head =
            Figures.count(inspection.entities.count, "entity", "entities") + ", "
            + Figures.count(inspection.rowCount, "row", "rows")
        return [head] + (table.isEmpty ? [] : table.lines)
    }

    private var joinTables: [String] {
        var table = TextTable([
            ("TABLE", .leading), ("RELATIONSHIP", .leading), ("INVERSE", .leading), ("ROWS", .trailing),
        ])
        for join in inspection.joinTables {
            table.add(join.name, join.relationship ?? "?", join.inverse ?? "?", Figures.grouped(join.rows))
        }
        return [Figures.count(inspection.joinTables.count, "join table", "join tables")] + table.lines
    }

    private var features: [String] {
        let features = inspection.features
        func list(_ items: [String]?) -> String {
            guard let items else { return "unknown without the model" }
            return items.isEmpty ? "none" : items.joined(separator: ", ")
        }
        let history = features.history.map {
            "\(Figures.count($0.changes, "change", "changes")) in \(Figures.count($0.transactions, "transaction", "transactions"))"
        }
        let external = features.externalData.map {
            "\(Figures.count($0.files, "file", "files")), \(Figures.bytes($0.bytes))"
        }
        var facts = [
            ("Journal", features.isWAL ? "WAL" : "rollback"),
            ("Persistent history", history ?? "none"),
            ("External data", external ?? "none"),
            ("Derived attributes", list(features.derivedAttributes)),
            ("Unique constraints", list(features.uniquenessConstraints)),
            ("R-trees", list(features.rTrees)),
            ("CloudKit mirroring", features.isCloudKitMirrored ? "yes" : "no"),
            ("Made by the app", list(features.appObjects)),
            ("Left behind", list(features.staleObjects)),
        ]
        if features.unknownColumns?.isEmpty == false {
            facts.append(("Unknown columns", list(features.unknownColumns)))
        }
        if features.hasDeferredMigration { facts.append(("Deferred migration", "yes, Core Data has postponed a part")) }
        return facts.map { "  " + fact($0.0, $0.1) }
    }

    private var sizes: [String] {
        let sizes = inspection.sizes
        return [
            ("File", Figures.bytes(sizes.file)),
            ("-wal", Figures.bytes(sizes.wal)),
            ("Pages", "\(Figures.grouped(sizes.pages)) of \(Figures.grouped(sizes.pageSize)) bytes"),
            ("Free pages", Figures.grouped(sizes.freePages)),
        ].map { "  " + fact($0.0, $0.1) }
    }
}

/// A line about a store: a name and what it has.
func fact(_ name: String, _ value: String) -> String { name.padded(to: 20) + value }

/// The versions of the models that a store has, in words.
func versionText(_ versions: [String], _ models: String?, _ origin: StoreInspection.ModelOrigin) -> String {
    if !versions.isEmpty { return versions.joined(separator: ", or the equal ") }
    let cache =
        origin == .storeCache
        ? "the store's own cache holds its model" : "the store has no usable cache of its model either"
    return models == nil ? "not looked up (--models); \(cache)" : "none of the models'; \(cache)"
}
