import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewaySQLiteFile
import CausewayStoreFormat

extension TransferPlanner {
    /// The recipe of an attribute's cell; `path` names a composite's leaf as `composite.leaf`.
    func attribute(_ path: String, _ context: CellContext, shape: inout RowShape) throws(PlanError) -> CellRecipe {
        guard let mapped = context.mapping.attribute(path) else { return .literal(.null) }
        let target = destination.model.storedLeaf(path, of: context.entity)
        switch mapped.value {
        case .derived: return .literal(.null)
        case .constant(let constant):
            return .literal(try literal(constant, path, target, context))
        case .carried(let from, let replacement, let conversion):
            guard let role = attributeRole(from, of: context.origin), let column = source.layout.column(role) else {
                throw .missingInSource(entity: context.origin, property: from)
            }
            let index = shape.index(of: .column(try identifier(column.name)))
            let old = source.model.storedLeaf(from, of: context.origin)
            let isExternal = target?.allowsExternalBinaryDataStorage ?? false
            if old?.allowsExternalBinaryDataStorage ?? false != isExternal {
                guard replacement == nil else { throw .twoChangesAtOnce(entity: context.entity, attribute: path) }
                return isExternal ? .prefixed(index, attribute: from) : .inlined(index, attribute: from)
            }
            let ifNull = try replacement.map { (constant: Constant) throws(PlanError) in
                try literal(constant, path, target, context)
            }
            if let conversion, conversion.changesCells { return .converted(index, conversion, ifNull: ifNull) }
            return ifNull.map { .carryOr(index, $0) } ?? .carry(index)
        }
    }

    /// The cell of an attribute that the row's entity doesn't have.
    func foreignAttribute(
        _ path: String, of owner: String, _ context: CellContext, shape: inout RowShape
    ) throws(PlanError) -> CellRecipe {
        let known = context.foreign.columns[context.column]
        let trace = known?.trace ?? foreignCells.trace(path, declaredBy: owner)
        context.foreign.columns[context.column] = (trace, known?.recipe)
        guard foreignCells.holds(trace, inRowsOf: context.row) else { return .literal(.null) }
        // From here on the cell is the same for rows of any entity.
        if let recipe = known?.recipe { return recipe }
        let recipe = try recipe(of: trace.origin, path, context, shape: &shape)
        context.foreign.columns[context.column] = (trace, recipe)
        return recipe
    }

    /// The same for a column that another entity has already; nil if none has.
    func knownForeign(_ place: Int, _ role: ColumnRole, _ context: borrowing CellContext) -> CellRecipe? {
        guard case .attribute(let owner, _) = role, let column = context.foreign.columns[place],
            let recipe = column.recipe, !context.kinds.contains(owner)
        else { return nil }
        return foreignCells.holds(column.trace, inRowsOf: context.row) ? recipe : .literal(.null)
    }

    private func recipe(
        of origin: ForeignCells.Origin, _ path: String, _ context: CellContext, shape: inout RowShape
    ) throws(PlanError) -> CellRecipe {
        switch origin {
        case .nothing: return .literal(.null)
        case .constant(let constant, let attribute, let conversion):
            return .literal(try literal(constant, path, attribute, context).converted(by: conversion))
        case .column(let path, let owner, let conversion):
            guard let column = source.layout.column(.attribute(entity: owner, path: path)) else {
                return .literal(.null)
            }
            let index = shape.index(of: .column(try identifier(column.name)))
            if let conversion, conversion.changesCells { return .converted(index, conversion, ifNull: nil) }
            return .carry(index)
        }
    }

    private func literal(
        _ constant: Constant?, _ path: String, _ attribute: Attribute?, _ context: CellContext
    ) throws(PlanError) -> CellValue {
        if let attribute, let literal = CellValue(constant, as: attribute) { return literal }
        let place = firstDefault(constant, of: path, in: context.entity)
        throw .defaultHasNoStoredForm(
            version: place?.version, entity: place?.entity ?? context.entity, attribute: place?.path ?? path,
            reason: UnstorableDefault(place?.attribute ?? attribute))
    }

    /// The first version of the run that has a default, under the name that the attribute has there.
    private func firstDefault(
        _ constant: Constant?, of path: String, in entity: String
    ) -> (version: String, entity: String, path: String, attribute: Attribute)? {
        var found: (version: String, entity: String, path: String, attribute: Attribute)?
        for (version, model) in versions {
            // The last version's names come first: most attributes keep theirs.
            for name in [entity] + model.entities.keys.sorted() {
                let leaves = model.storedAttributes(of: name).filter { $0.attribute.defaultValue == constant }
                guard let leaf = leaves.first(where: { $0.path == path }) ?? leaves.first else { continue }
                found = (version, name, leaf.path, leaf.attribute)
                break
            }
            if found != nil { break }
        }
        return found
    }

    /// The column role of an attribute that `entity` sees: columns belong to the entity that declares it.
    private func attributeRole(_ path: String, of entity: String) -> ColumnRole? {
        guard let name = path.split(separator: ".", omittingEmptySubsequences: false).first,
            let owner = source.model.owner(ofAttribute: String(name), seenBy: entity)
        else { return nil }
        return .attribute(entity: owner, path: path)
    }
}

/// The columns of one table as the rows of entities without their attributes have them, as they become known.
final class ForeignColumns {
    var columns: [Int: (trace: ForeignCells.Trace, recipe: CellRecipe?)] = [:]
}

extension CellValue {
    /// The recipe for a column whose type changes.
    fileprivate func converted(by conversion: NumericConversion?) -> CellValue {
        let number: StoredNumber
        switch self {
        case .integer(let value): number = .integer(value)
        case .real(let value): number = .real(value)
        case .null, .text, .blob: return self
        }
        switch conversion?.applied(to: number) ?? number {
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        }
    }
}
