import CausewayModel

/// Why a store can't be planned.
package enum PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The mapping reads a property that the source store doesn't hold.
    case missingInSource(entity: String, property: String)
    /// A to-many without inverse takes over several relationships, whose links are in different columns.
    case severalOrigins(entity: String, relationship: String)
    /// A table or column name that a statement can't contain.
    case unusableName(String)
    /// A binary attribute becomes mandatory with a default while its storage changes.
    case twoChangesAtOnce(entity: String, attribute: String)
    /// A default without a stored form; `version` is the one that has it, nil where it isn't known.
    case defaultHasNoStoredForm(version: String?, entity: String, attribute: String, reason: UnstorableDefault)
    /// An explicit mapping model with all its problems.
    case mapping(String, [String])

    package var description: String {
        switch self {
        case .mapping(let name, let problems):
            (["the mapping model “\(name)” can't be used"] + problems).joined(separator: "\n  - ")
        case .missingInSource(let entity, let property):
            """
            \(entity).\(property) has no column or table in the store, though its version says so; the store was altered \
            by hand, or its -wal is missing
            """
        case .severalOrigins(let entity, let relationship):
            """
            \(entity).\(relationship) takes over the links of several relationships and has no inverse; give it an \
            inverse, or use a mapping model
            """
        case .unusableName(let what): what
        case .twoChangesAtOnce(let entity, let attribute):
            """
            \(entity).\(attribute) becomes mandatory with a default and changes its external storage in the same run; \
            make it two versions
            """
        case .defaultHasNoStoredForm(let version, let entity, let attribute, let reason):
            """
            \(version.map { "in “\($0)”, " } ?? "")the default of \(entity).\(attribute) \(reason); \(reason.remedy)
            """
        }
    }
}

/// Why an attribute's default can't be written into a row.
package enum UnstorableDefault: Hashable, Sendable, CustomStringConvertible {
    /// Only the app's own class knows its bytes, or it isn't of the attribute's type.
    case foreign
    /// See `Attribute.dateText`.
    case dateText(String)

    init(_ attribute: Attribute?) {
        self = attribute?.dateText.map { .dateText($0) } ?? .foreign
    }

    package var description: String {
        switch self {
        case .foreign: "can't be stored without the app's own class"
        case .dateText(let text):
            """
            (XD_PAttK_defaultValueAsString) is the text “\(text)”, a date in the language of the person who saved the \
            model, which can't be read
            """
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .foreign: "fill the attribute with a mapping model, or make it optional without a default"
        case .dateText:
            """
            fill the attribute with a mapping model, or save the version once with a newer Xcode, which leaves its hashes \
            as they are
            """
        }
    }
}
