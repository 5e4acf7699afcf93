import Causeway

/// What steps change, as a person reads it.
struct ChangeText {
    let changes: [ModelChange]
    let layout: TextLayout

    /// A table of properties and what happens to them.
    func lines(indent: Int) -> [String] {
        let (shown, more) = layout.folded(changes)
        var table = TextTable([("PROPERTY", .leading), ("CHANGE", .leading)])
        for change in shown { table.add(change.place, change.words) }
        return table.lines(width: layout.width, indent: indent, hasHeadings: false)
            + TextLayout.more(more, indent: indent)
    }

    /// `12 changes: 3 added, 1 renamed, 8 dropped`
    static func totals(_ changes: [ModelChange]) -> String {
        guard !changes.isEmpty else { return "no changes" }
        let kinds = Dictionary(grouping: changes, by: \.kind).sorted { $0.key.order < $1.key.order }
        return Figures.count(changes.count, "change", "changes") + ": "
            + kinds.map { "\($0.value.count) \($0.key.adjective)" }.joined(separator: ", ")
    }
}

extension ModelChange {
    /// `Harvest.scratch`, or the entity alone.
    var place: String { property.map { "\(entity).\($0)" } ?? entity }
}

extension ModelChange.Kind {
    /// Where the kind stands in a summary: first what happens to rows, then what is asked of them.
    fileprivate var order: Int { Self.inOrder.firstIndex(of: self) ?? Self.inOrder.count }

    private static let inOrder: [Self] = [
        .added, .renamed, .moved, .converted, .transformed, .custom, .dropped, .mandatory, .optional, .destination,
        .cardinality, .inverse, .defaultValue, .derivation, .storage, .transformer, .deleteRule, .abstract, .constraint,
        .index, .hashModifier,
    ]

    /// The kind after a number.
    fileprivate var adjective: String {
        switch self {
        case .defaultValue: "with another default"
        case .derivation: "derived otherwise"
        case .storage: "stored elsewhere"
        case .transformer: "with another transformer"
        case .destination: "leading elsewhere"
        case .cardinality: "of another cardinality"
        case .inverse: "with another inverse"
        case .deleteRule: "with another delete rule"
        case .constraint: "of uniqueness"
        case .index: "of an index"
        case .hashModifier: "of a hash modifier"
        case .mandatory: "mandatory now"
        case .optional: "optional now"
        case .added, .renamed, .moved, .converted, .transformed, .custom, .dropped, .abstract: rawValue
        }
    }
}
