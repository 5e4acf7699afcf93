import Causeway

/// A comparison as a person reads it.
struct ComparisonText {
    let comparison: StoreComparison

    var lines: [String] {
        var lines = [
            fact("A", comparison.a.store), fact("", side(comparison.a)),
            fact("B", comparison.b.store), fact("", side(comparison.b)),
            fact("Rows matched by", comparison.isModuloKeys ? "content" : "entity and primary key"),
            "", verdict,
        ]
        lines += listed(differences, under: "", "Differences")
        if !comparison.isEqual { lines += ["", equalParts] }
        return lines + listed(comparison.notes, under: "", "Notes")
    }

    /// For a pull request.
    var markdown: [String] {
        var lines = [
            "### \(verdict)", "", "| | store | version | rows |", "|---|---|---|---|", row("A", comparison.a),
            row("B", comparison.b), "",
        ]
        let differing = comparison.entities.filter(\.differs)
        if !differing.isEmpty {
            lines += ["| entity | rows in A | rows in B | only in A | only in B |", "|---|---|---|---|---|"]
            lines += differing.map { entity in
                let counts = [entity.rowsInA, entity.rowsInB, entity.onlyInA.count, entity.onlyInB.count]
                return "| \(Markdown.code(entity.name)) | " + counts.map(Figures.grouped).joined(separator: " | ")
                    + " |"
            }
            lines.append("")
        }
        lines += Markdown.list(differences)
        if !comparison.isEqual { lines += ["", equalParts] }
        return lines + comparison.notes.map { "\n> \(Markdown.plain($0))" }
    }

    private func row(_ name: String, _ side: StoreComparison.Side) -> String {
        let cells = [Markdown.code(side.store), Markdown.plain(side.versions.joined(separator: ", "))]
        return "| \(name) | \(cells.joined(separator: " | ")) | \(Figures.grouped(side.rows)) |"
    }

    private func side(_ side: StoreComparison.Side) -> String {
        let versions = side.versions.isEmpty ? "" : "version \(side.versions.joined(separator: ", or the equal ")), "
        return versions + Figures.count(side.rows, "row", "rows")
    }

    private var verdict: String {
        guard comparison.isEqual else { return "The stores differ." }
        guard let rounds = comparison.rounds else { return "The stores are equal." }
        return "The stores are equal but for their keys; links were followed in "
            + Figures.count(rounds, "round", "rounds") + "."
    }

    /// `Equal: the rows of 2 of 3 entities, the links of 1 of 2 relationships.`
    private var equalParts: String {
        func part(_ equal: [Bool], _ what: String, _ one: String, _ many: String) -> String? {
            guard !equal.isEmpty else { return nil }
            let (count, total) = (equal.count { $0 }, Figures.count(equal.count, one, many))
            return "\(what)\(Figures.grouped(count)) of \(total)"
        }
        let relationship = comparison.isModuloKeys ? "relationship" : "many-to-many relationship"
        let parts = [
            part(comparison.entities.map { !$0.differs }, "the rows of ", "entity", "entities"),
            part(comparison.relationships.map { !$0.differs }, "the links of ", relationship, relationship + "s"),
            part(comparison.tables.map { !$0.differs }, "", "other table", "other tables"),
        ].compactMap(\.self)
        return "Equal: \(parts.isEmpty ? "nothing" : parts.joined(separator: ", "))."
    }

    private var differences: [String] {
        var lines: [String] = []
        if !comparison.modelDifferences.isEmpty {
            lines.append("the models differ in \(comparison.modelDifferences.joined(separator: ", "))")
        }
        return lines + comparison.entities.flatMap { rowLines(of: $0) }
            + comparison.relationships.flatMap { linkLines(of: $0) }
            + comparison.tables.compactMap { tableLine(of: $0) }
    }

    // MARK: - Entities

    private func rowLines(of entity: StoreComparison.Entity) -> [String] {
        var lines: [String] = []
        for (rows, place) in [(entity.onlyInA, "A"), (entity.onlyInB, "B")] where rows.count > 0 {
            lines.append("\(entity.name): \(described(rows)) only in \(place)")
        }
        for (rows, place) in [(entity.linksOnlyInA, "A"), (entity.linksOnlyInB, "B")] where rows.count > 0 {
            lines.append("\(entity.name): \(described(rows)) of \(place) with other links")
        }
        lines += entity.properties.map { difference(of: $0, entity.name) }
        for (names, place) in [(entity.propertiesOnlyInA, "A"), (entity.propertiesOnlyInB, "B")] {
            lines += names.map { "\(entity.name).\($0) is only in \(place)" }
        }
        return lines
    }

    private func difference(of property: StoreComparison.Property, _ entity: String) -> String {
        let what: String
        switch property.kind {
        case .place: what = ": its place differs"
        case .toOne: what = " leads elsewhere"
        case .external: what = ": its data differ"
        case .attribute, .entityNumber, .column: what = " differs"
        }
        guard property.rows.count > 0 else { return "\(entity).\(property.name)\(what)" }
        let classes =
            property.storageClasses == 0
            ? "" : "; in \(Figures.grouped(property.storageClasses)) of them by storage class"
        return "\(entity).\(property.name)\(what) in \(described(property.rows))\(classes)"
    }

    /// `3 rows (p1, p2, p3)`
    private func described(_ rows: StoreComparison.Rows) -> String {
        let more = rows.count > rows.keys.count ? ", …" : ""
        return
            "\(Figures.count(rows.count, "row", "rows")) (\(rows.keys.map { "p\($0)" }.joined(separator: ", "))\(more))"
    }

    // MARK: - Links and tables

    private func linkLines(of links: StoreComparison.Links) -> [String] {
        guard links.differs else { return [] }
        if links.isMissing {
            return [
                "\(links.name): \(counts(links)), where one model has no such relationship"
            ]
        }
        var lines: [String] = []
        for (count, first, place) in [
            (links.onlyInA, links.firstOnlyInA, "only in A"), (links.onlyInB, links.firstOnlyInB, "only in B"),
            (links.places, links.firstPlaces, "at another place"),
        ] where count > 0 {
            let keys = first.map { pair in pair.map { "p\($0)" }.joined(separator: "–") }.joined(separator: ", ")
            let more = count > first.count ? ", …" : ""
            lines.append("\(links.name): \(Figures.count(count, "link", "links")) (\(keys)\(more)) \(place)")
        }
        if comparison.isModuloKeys, links.countInA != links.countInB {
            lines.append("\(links.name): \(counts(links))")
        } else if links.endsDiffer {
            lines.append("\(links.name) joins other rows")
        }
        return lines
    }

    private func counts(_ links: StoreComparison.Links) -> String {
        "\(Figures.count(links.countInA, "link", "links")) in A, \(Figures.grouped(links.countInB)) in B"
    }

    private func tableLine(of table: StoreComparison.Table) -> String? {
        guard table.differs else { return nil }
        guard let rows = table.rowsInA, let others = table.rowsInB else {
            return "the table \(table.name) is only in \(table.rowsInA == nil ? "B" : "A")"
        }
        var parts: [String] = []
        if rows != others {
            parts.append("\(Figures.grouped(rows)) rows in A, \(Figures.grouped(others)) in B")
        } else if table.rowsDiffer {
            parts.append("rows differ")
        }
        if !table.columns.isEmpty { parts.append("only one has \(table.columns.joined(separator: ", "))") }
        return "the table \(table.name): \(parts.joined(separator: "; "))"
    }
}
