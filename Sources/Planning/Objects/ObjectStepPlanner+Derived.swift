import CausewayEvaluation
import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayStoreFormat

/// Derived attributes, which no mapping fills. Core Data computes them when it saves the new row. Here a statement
/// computes what one can after the rows; of the others the source's cell is carried, as in an inferred step, where the
/// row has what it was computed from.
extension ObjectStepPlanner {
    /// The carried cells of a mapping's derived attributes; the others are NULL, and a warning names them. `filled` is
    /// what the mapping's expressions fill, `columns` are those of the source row.
    mutating func derivedFills(
        _ mapping: EntityMappingDescription, besides filled: [EntityMappingPlan.AttributeFill],
        _ columns: inout SourceColumns
    ) throws(PlanError) -> [EntityMappingPlan.AttributeFill] {
        guard let entity = mapping.destinationEntity, let number = destination.number(of: entity) else { return [] }
        var result: [EntityMappingPlan.AttributeFill] = []
        for owner in destination.schema.model.lineage(of: entity) {
            for attribute in owner.attributes where attribute.derivation != nil {
                guard let handle = destination.schema.handle(of: attribute.name),
                    case .attribute(let column, _)? = destination.place(of: handle, entity: number),
                    attribute.isUncomputed(in: destination.layout, declaredBy: owner.name),
                    !result.contains(where: { $0.column == column })
                else { continue }
                let readings = reads(attribute, into: number, mapping)
                if let from = origin(of: attribute, in: entity, columns),
                    readings.allSatisfy({ $0.isKept(by: filled, columns) })
                {
                    result.append(
                        .init(
                            name: attribute.name, column: column, attribute: attribute,
                            origin: .carry(try columns.index(of: from))))
                    guard readings.contains(where: \.isOfOtherRows) else { continue }
                    warnings.append(
                        """
                        \(entity).\(attribute.name) is derived from other rows: its values are the source's until Core \
                        Data writes the row again, whatever becomes of these rows.
                        """)
                } else {
                    warnings.append(
                        """
                        \(entity).\(attribute.name) is derived, and its values follow neither from those of \
                        \(mapping.sourceEntity ?? "the source") nor from a statement: “\(mapping.name)” leaves them \
                        NULL \(attribute.unsavedText)
                        """)
                }
            }
        }
        return result
    }

    /// The column of the source attribute that has the same derivation and type.
    private func origin(of attribute: Attribute, in entity: String, _ columns: SourceColumns) -> Int? {
        let before = source.schema.model.allAttributes(of: source.name(of: columns.entity))
        let match = RenamingMatch(
            source: before.values.map { .init($0) },
            destination: destination.schema.model.allAttributes(of: entity).values.map { .init($0) })
        guard let old = match.sources[attribute.name].flatMap({ before[$0] }), old.derivation == attribute.derivation,
            old.type == attribute.type,
            let handle = source.schema.handle(of: old.name),
            case .attribute(let column, _)? = source.place(of: handle, entity: columns.entity)
        else { return nil }
        return column
    }

    /// What a derivation reads of a row.
    private enum Reading {
        /// A column of the new row, and the one of the source row that has the same name.
        case attribute(to: Int, from: Int?)
        case relationship(isMapped: Bool)
        case other

        /// Whether other mappings decide about it.
        var isOfOtherRows: Bool { if case .relationship = self { true } else { false } }

        /// Whether the new row has what the source row has.
        func isKept(by filled: [EntityMappingPlan.AttributeFill], _ columns: SourceColumns) -> Bool {
            switch self {
            case .attribute(let to, let from?):
                filled.contains { fill in
                    guard fill.column == to, case .carry(let cell) = fill.origin else { return false }
                    return columns.cells[from] == cell
                }
            case .attribute(_, nil), .other: false
            case .relationship(let isMapped): isMapped
            }
        }
    }

    private func reads(_ attribute: Attribute, into number: Int32, _ mapping: EntityMappingDescription) -> [Reading] {
        var keys: Set<String> = []
        attribute.derivation?.expression.collectKeys(into: &keys)
        return keys.map { key in
            switch destination.schema.handle(of: key).flatMap({ destination.place(of: $0, entity: number) }) {
            case .attribute(let column, _)?:
                guard let handle = source.schema.handle(of: key), let from = source.number(of: mapping.sourceEntity),
                    case .attribute(let old, _)? = source.place(of: handle, entity: from)
                else { return .attribute(to: column, from: nil) }
                return .attribute(to: column, from: old)
            case .toOne?, .toMany?, .join?:
                return .relationship(
                    isMapped: mapping.relationshipMappings.contains { $0.name == key && $0.expression != nil })
            case .composite?, .none?, nil: return .other
            }
        }
    }
}
