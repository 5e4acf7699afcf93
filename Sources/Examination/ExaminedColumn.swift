import CausewayModel
import CausewayStoreFormat

/// A column of an entity table whose values the model describes.
struct ExaminedColumn {
    let name: String
    /// Declares the property.
    let entity: String
    /// A composite's leaf is `composite.leaf`.
    let property: String
    /// Z_ENT values of the rows that have the property.
    let numbers: ClosedRange<Int>
    let form: CellForm
    /// Whether NULL is none of its values.
    let isMandatory: Bool
    /// The columns of an optional composite around, by their places in the list: on disk a nil composite and one whose
    /// elements are all nil look the same (InsideStoreFormat §4.2), so its elements are mandatory only if there is one.
    fileprivate(set) var around: [Int] = []

    /// The columns of a table that hold properties.
    static func all(of table: EntityTable, _ layout: StoreLayout) -> [ExaminedColumn] {
        var columns = table.columns.compactMap { ExaminedColumn($0, layout) }
        for place in columns.indices where columns[place].isMandatory {
            guard let path = columns[place].optionalComposite(layout) else { continue }
            let entity = columns[place].entity
            columns[place].around = columns.indices.filter {
                columns[$0].entity == entity && columns[$0].property.hasPrefix(path + ".")
            }
        }
        return columns
    }

    /// nil for a column that isn't a property's, and for properties whose cells may be anything.
    private init?(_ column: Column, _ layout: StoreLayout) {
        var holder: String?
        name = column.name
        switch column.role {
        case .primaryKey, .entityNumber, .optimisticLock: return nil
        case .attribute(let entity, let path):
            guard let attribute = layout.model.entities[entity]?.attribute(at: path).last,
                let form = CellForm(attribute.type)
            else { return nil }
            (self.entity, property, self.form) = (entity, path, form)
            // Derived ones are computed by SQLite.
            isMandatory = !attribute.isOptional && attribute.derivation == nil
        case .toOne(let entity, let relationship):
            let found = layout.model.entities[entity]?.relationships.first { $0.name == relationship }
            (self.entity, property, form) = (entity, relationship, .key)
            isMandatory = found.map { !$0.isOptional } ?? false
        case .toOneEntity(let entity, let relationship), .orderKey(let entity, let relationship):
            (self.entity, property, form, isMandatory) = (entity, relationship, .key, false)
        case .virtualToOne(let owner, let relationship), .virtualOrderKey(let owner, let relationship):
            holder = layout.model.entities[owner]?.relationships.first { $0.name == relationship }?.destination
            (entity, property, form, isMandatory) = (owner, relationship, .key, false)
        }
        guard let numbers = layout.numbers(ofTree: holder ?? entity) else { return nil }
        self.numbers = numbers
    }

    /// The path of the innermost optional composite around a composite's element.
    private func optionalComposite(_ layout: StoreLayout) -> String? {
        let chain = layout.model.entities[entity]?.attribute(at: property).dropLast() ?? []
        guard let last = chain.lastIndex(where: \.isOptional) else { return nil }
        return chain[...last].map(\.name).joined(separator: ".")
    }
}

extension Entity {
    /// The attribute of the entity itself to which a path leads, after the composites around it; empty if there is
    /// none.
    fileprivate func attribute(at path: String) -> [Attribute] {
        var result: [Attribute] = []
        var attributes = attributes
        for name in path.split(separator: ".") {
            guard let next = attributes.first(where: { $0.name == name }) else { return [] }
            result.append(next)
            attributes = next.elements
        }
        return result
    }
}
