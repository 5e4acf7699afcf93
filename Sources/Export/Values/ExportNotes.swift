import CausewayStores

/// What isn't as a reader expects, by entity and property: counted while rows pass, told at the end.
final class ExportNotes {
    enum Kind: Int, Hashable, CaseIterable {
        case misfit, invalidText, missingFile, dateOutOfRange, danglingLink

        var complaint: String {
            switch self {
            case .misfit: "holds values that don't fit its type, written as they are,"
            case .invalidText: "holds text that isn't valid UTF-8, written with U+FFFD in its place,"
            case .missingFile: "refers to files that can't be read, written as null,"
            case .dateOutOfRange: "holds dates outside the years 1 to 9999, written as seconds since 2001,"
            case .danglingLink: "leads to rows that aren't there, written as NULL,"
            }
        }
    }

    private struct Place: Hashable {
        let kind: Kind
        let property: String
    }

    private var found: [Place: FoundRows] = [:]
    private var sentences: [String] = []

    func add(_ kind: Kind, _ entity: String, _ property: String, key: Int64) {
        found[Place(kind: kind, property: "\(entity).\(property)"), default: FoundRows()].add(key)
    }

    func add(_ kind: Kind, _ entity: String, _ property: String, _ rows: FoundRows) {
        found[Place(kind: kind, property: "\(entity).\(property)")] = rows
    }

    func add(_ sentence: String) { sentences.append(sentence) }

    /// Sentences, sorted by kind and property.
    var warnings: [String] {
        let places = found.keys.sorted { first, second in
            first.kind == second.kind
                ? first.property < second.property : first.kind.rawValue < second.kind.rawValue
        }
        return sentences
            + places.map { place in
                "\(place.property) \(place.kind.complaint) in \((found[place] ?? FoundRows()).described)"
            }
    }
}
