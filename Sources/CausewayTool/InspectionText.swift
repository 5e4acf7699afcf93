import Causeway
import CausewayPlatform

/// An inspection as a person reads it.
struct InspectionText {
    let inspection: StoreInspection
    var layout = TextLayout()

    var lines: [String] {
        var lines = identity + [""] + entities + properties
        if !inspection.joinTables.isEmpty { lines += [""] + joinTables }
        lines += ["", "Features"] + features + ["", "Size"] + sizes + objects
        if let found = inspection.walBreak, found.readableCommits == 0 {
            let frames = Figures.count(found.unreadableFrames, "frame", "frames")
            lines += [
                "", "The -wal: none of its commits can be read (\(frames)): it doesn't belong to this store, or its",
                "beginning is damaged; the store by itself is read. After a power loss this may be normal",
            ]
        } else if let found = inspection.walBreak {
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
        let keys = inspection.appMetadataKeys
        return lines + [
            fact("Version identifiers", identifiers.isEmpty ? "none" : identifiers.joined(separator: ", ")),
            fact("Version checksum", inspection.checksum),
            fact("Framework version", String(inspection.frameworkVersion)),
            fact("Store UUID", inspection.uuid),
        ] + facts("Metadata of the app", keys.isEmpty ? "none" : "keys " + keys.joined(separator: ", "))
    }

    /// A fact on as many lines as it takes.
    private func facts(_ name: String, _ value: String, indent: Int = 0) -> [String] {
        value.broken(to: max(20, layout.width - 20 - indent)).enumerated().map { place, part in
            String(repeating: " ", count: indent) + fact(place == 0 ? name : "", part)
        }
    }

    private var entities: [String] {
        var table = TextTable([("Z_ENT", .trailing), ("ENTITY", .leading), ("PARENT", .leading), ("ROWS", .trailing)])
        let (shown, more) = layout.folded(inspection.entities)
        for entity in shown {
            table.add(String(entity.number), entity.name, entity.parent ?? "", Figures.grouped(entity.rows))
        }
        if inspection.unknownRows > 0 {
            table.add("?", "(no entity of their table)", "", Figures.grouped(inspection.unknownRows))
        }
        let head =
            Figures.count(inspection.entities.count, "entity", "entities") + ", "
            + Figures.count(inspection.rowCount, "row", "rows")
        return [head] + (table.isEmpty ? [] : table.lines(width: layout.width)) + TextLayout.more(more)
    }

    /// Attributes with their types, and relationships with their destinations, by the entity that declares them.
    private var properties: [String] {
        var attributes: [(name: String, words: String)] = []
        var relationships: [(name: String, words: String)] = []
        for entity in inspection.entities {
            for attribute in entity.attributes ?? [] { attribute.append(to: &attributes, after: entity.name) }
            for relationship in entity.relationships ?? [] {
                relationships.append(("\(entity.name).\(relationship.name)", relationship.words))
            }
        }
        return list(attributes, ("attribute", "attributes"), heading: "TYPE")
            + list(relationships, ("relationship", "relationships"), heading: "LEADS TO")
    }

    private func list(
        _ items: [(name: String, words: String)], _ nouns: (one: String, many: String), heading: String
    ) -> [String] {
        guard !items.isEmpty else { return [] }
        let (shown, more) = layout.folded(items)
        var table = TextTable([(nouns.one.uppercased(), .leading), (heading, .leading)])
        for item in shown { table.add(item.name, item.words) }
        return ["", Figures.count(items.count, nouns.one, nouns.many)] + table.lines(width: layout.width)
            + TextLayout.more(more)
    }

    /// The largest tables and indexes, if they were asked for.
    private var objects: [String] {
        if let problem = inspection.sizes.objectsProblem {
            return ["", "Tables and indexes by size"] + ["  not known: \(problem)"]
        }
        guard let objects = inspection.sizes.objects, !objects.isEmpty else { return [] }
        let (shown, more) = layout.folded(objects)
        var table = TextTable([
            ("NAME", .leading), ("KIND", .leading), ("TABLE", .leading), ("PAGES", .trailing), ("SIZE", .trailing),
        ])
        for object in shown {
            table.add(
                object.name, object.kind, object.kind == "index" ? object.table : "", Figures.grouped(object.pages),
                Figures.bytes(object.bytes))
        }
        return ["", "Tables and indexes by size"] + table.lines(width: layout.width) + TextLayout.more(more)
    }

    private var joinTables: [String] {
        var table = TextTable([
            ("TABLE", .leading), ("RELATIONSHIP", .leading), ("INVERSE", .leading), ("ROWS", .trailing),
        ])
        let (shown, more) = layout.folded(inspection.joinTables)
        for join in shown {
            table.add(join.name, join.relationship ?? "?", join.inverse ?? "?", Figures.grouped(join.rows))
        }
        return [Figures.count(inspection.joinTables.count, "join table", "join tables")]
            + table.lines(width: layout.width) + TextLayout.more(more)
    }

    private var features: [String] {
        let features = inspection.features
        func list(_ items: [String]?) -> String {
            guard let items else { return "unknown without the model" }
            guard !items.isEmpty else { return "none" }
            let (shown, more) = layout.folded(items, to: Self.names)
            return shown.joined(separator: ", ")
                + (more == 0 ? "" : ", … and \(Figures.grouped(more)) more; --all shows them")
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
            ("CloudKit mirroring", features.cloudKit.map { "yes, \($0.inWords)" } ?? "no"),
            ("Made by the app", list(features.appObjects)),
            ("Left behind", list(features.staleObjects)),
        ]
        if features.unknownColumns?.isEmpty == false {
            facts.append(("Unknown columns", list(features.unknownColumns)))
        }
        if features.hasDeferredMigration { facts.append(("Deferred migration", "yes, Core Data has postponed a part")) }
        return facts.flatMap { self.facts($0, $1, indent: 2) }
    }

    /// Names in a line of features without `--all`.
    private static let names = 12

    private var sizes: [String] {
        let sizes = inspection.sizes
        var facts = [
            ("File", Figures.bytes(sizes.file)),
            ("-wal", Figures.bytes(sizes.wal)),
            ("Pages", "\(Figures.grouped(sizes.pages)) of \(Figures.grouped(sizes.pageSize)) bytes"),
            ("Free pages", Figures.grouped(sizes.freePages)),
        ]
        let maps = sizes.pointerMapPages
        if maps > 0 { facts.append(("Pointer maps", Figures.count(maps, "page", "pages"))) }
        return facts.map { "  " + fact($0.0, $0.1) }
    }
}

extension StoreInspection.Attribute {
    /// Appends the attribute, and after a composite its elements as `composite.element`.
    fileprivate func append(to list: inout [(name: String, words: String)], after prefix: String) {
        let path = "\(prefix).\(name)"
        list.append((path, words))
        for element in elements ?? [] { element.append(to: &list, after: path) }
    }

    fileprivate var words: String {
        var words = [type]
        if isOptional { words.append("optional") }
        if isTransient { words.append("transient") }
        if let defaultValue { words.append("default \(defaultValue)") }
        if isStoredExternally { words.append("external storage") }
        if let derivation { words.append("derived from \(derivation)") }
        if let transformer { words.append("transformer \(transformer)") }
        return words.joined(separator: ", ")
    }
}

extension StoreInspection.Relationship {
    fileprivate var words: String {
        let many = isToMany ? (isOrdered ? "ordered to-many" : "to-many") : "to-one"
        var words = ["\(destination), \(many)"]
        if isOptional { words.append("optional") }
        if isTransient { words.append("transient") }
        words.append(inverse.map { "inverse \($0)" } ?? "no inverse")
        if deleteRule != "Nullify" { words.append(deleteRule) }
        return words.joined(separator: ", ")
    }
}

/// A line about a store: a name and what it has.
func fact(_ name: String, _ value: String) -> String { name.padded(to: 20) + value.onOneLine }

/// The versions of the models that a store has, in words.
func versionText(_ versions: [String], _ models: String?, _ origin: StoreInspection.ModelOrigin) -> String {
    if !versions.isEmpty { return versions.joined(separator: ", or the equal ") }
    let cache =
        origin == .storeCache
        ? "the store's own cache holds its model" : "the store has no usable cache of its model either"
    return models == nil ? "not looked up (--models); \(cache)" : "none of the models'; \(cache)"
}

extension CloudKitMirror {
    fileprivate var inWords: String {
        "\(Figures.count(objects, "object", "objects")), \(Figures.grouped(waitingForUpload)) to upload, "
            + "\(Figures.grouped(waitingForDeletion)) to delete in the cloud"
    }
}
