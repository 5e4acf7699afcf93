import CausewayEvaluation
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat

/// Finds the cells and lists of an entity's properties, inherited ones included: attributes, to-ones and to-manys, each
/// by name.
struct ShapeBuilder {
    private let map: StorageMap
    private let entity: String
    private let number: Int32
    /// Whether places in ordered relationships are fields: where no list tells the order.
    private let hasPlaces: Bool
    private var columns: [Int] = []
    private var leaves: [EntityShape.Leaf] = []

    /// The shape of an entity; nil where the model lacks it.
    static func shape(of entity: String, in map: StorageMap, hasPlaces: Bool = false) -> EntityShape? {
        guard let number = map.schema.number(of: entity).map(Int32.init), let table = map.table(of: number) else {
            return nil
        }
        var builder = ShapeBuilder(map: map, entity: entity, number: number, hasPlaces: hasPlaces)
        return builder.shape(table)
    }

    private init(map: StorageMap, entity: String, number: Int32, hasPlaces: Bool) {
        self.map = map
        self.entity = entity
        self.number = number
        self.hasPlaces = hasPlaces
    }

    private mutating func shape(_ table: Int) -> EntityShape {
        // Nearest first: a subentity's own declaration wins.
        var attributes: [String: Attribute] = [:]
        var relationships: [String: Relationship] = [:]
        for ancestor in map.schema.model.lineage(of: entity) {
            for each in ancestor.attributes where attributes[each.name] == nil { attributes[each.name] = each }
            for each in ancestor.relationships where relationships[each.name] == nil { relationships[each.name] = each }
        }
        var names = UniqueNames(Array(attributes.keys) + Array(relationships.keys))
        let idName = names.first(of: ["id", "objectID", "objectURI"])
        var fields: [EntityShape.Field] = []
        for (name, attribute) in attributes.sorted(by: { $0.key < $1.key }) {
            if let field = field(attribute, path: name) { fields.append(field) }
        }
        var lists: [EntityShape.List] = []
        for (name, relationship) in relationships.sorted(by: { $0.key < $1.key }) {
            guard let place = map.schema.handle(of: name).flatMap({ map.place(of: $0, entity: number) }) else {
                continue
            }
            switch place {
            case .toOne(let link): fields += self.fields(name, link, &names)
            case .toMany(let link): lists.append(list(relationship, .toMany(link)))
            case .join(let link): lists.append(list(relationship, .join(link)))
            case .attribute, .composite, .none: break
            }
        }
        return EntityShape(
            name: entity, number: number, table: table, idName: idName, columns: columns, leaves: leaves,
            fields: fields, lists: lists)
    }

    private mutating func field(_ attribute: Attribute, path: String) -> EntityShape.Field? {
        if attribute.type == .composite {
            let fields = attribute.elements.compactMap { field($0, path: "\(path).\($0.name)") }
            return fields.isEmpty ? nil : .composite(name: attribute.name, fields)
        }
        guard let handle = map.schema.handle(of: path),
            case .attribute(let column, _)? = map.place(of: handle, entity: number),
            let meaning = CellMeaning(attribute)
        else { return nil }
        return .value(name: attribute.name, leaf: leaf(path, column, .attribute(meaning)))
    }

    private mutating func fields(
        _ name: String, _ link: ToOneStorage, _ names: inout UniqueNames
    ) -> [EntityShape.Field] {
        let entityCell = link.entityColumn.map { cell($0) }
        let kind = EntityShape.Leaf.Kind.link(entityCell: entityCell, destination: link.destination)
        let field = EntityShape.Field.value(name: name, leaf: leaf(name, link.column, kind))
        guard hasPlaces, let column = link.orderColumn else { return [field] }
        let place = names.made(from: name + "Position")
        return [field, .value(name: place, leaf: leaf(place, column, .place))]
    }

    private func list(_ relationship: Relationship, _ storage: EntityShape.List.Storage) -> EntityShape.List {
        let inverse = map.schema.model.inverse(of: relationship)?.relationship
        let isToldElsewhere: Bool =
            switch storage {
            case .toMany: inverse != nil && !relationship.isOrdered
            case .join: false
            }
        return EntityShape.List(
            name: relationship.name, isOrdered: relationship.isOrdered, storage: storage,
            destination: Int32(map.schema.number(of: relationship.destination) ?? 0), isToldElsewhere: isToldElsewhere)
    }

    private mutating func leaf(_ path: String, _ column: Int, _ kind: EntityShape.Leaf.Kind) -> Int {
        leaves.append(EntityShape.Leaf(path: path, cell: cell(column), kind: kind))
        return leaves.count - 1
    }

    private mutating func cell(_ column: Int) -> Int {
        if let known = columns.firstIndex(of: column) { return known }
        columns.append(column)
        return columns.count - 1
    }
}
