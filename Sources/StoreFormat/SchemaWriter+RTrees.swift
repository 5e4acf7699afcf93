import CausewayExpressions
import CausewayModel

/// R-trees: those of fetch indexes, and the private location attributes of Photos (InsideStoreFormat §7).
extension SchemaWriter {
    /// Key of an attribute's user info under which Photos names the attributes that an R-tree covers.
    private static let locationKey = "_NSLocationAttributeDerivedComponents"

    mutating func addRTrees(of entity: Entity) {
        for index in entity.fetchIndexes where index.isRTree {
            addRTree(index.name, index.elements.map { column(of: $0.indexed, in: entity) }, of: entity)
        }
        for attribute in entity.attributes.sorted(by: { ManagedObjectModel.compareOrder($0.name, $1.name) }) {
            guard let components = SchemaWriter.components(attribute.userInfo[Self.locationKey]) else { continue }
            addRTree(attribute.name, components.map { layout.column(of: $0, in: entity.name)?.name }, of: entity)
        }
    }

    /// An array of names, or one text with commas.
    private static func components(_ value: Constant?) -> [String]? {
        switch value {
        case .string(let text):
            return text.split(separator: ",").map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        case .array(let values):
            let names = values.compactMap { value in if case .string(let name) = value { name } else { nil } }
            return names.count == values.count ? names : nil
        default:
            return nil
        }
    }

    private mutating func addRTree(_ index: String, _ found: [String?], of entity: Entity) {
        let columns = found.compactMap(\.self)
        // SQLite's R-tree takes one to five dimensions.
        guard (1...5).contains(columns.count), columns.count == found.count, let table = layout.table(of: entity.name)
        else {
            unsupported.append(
                "R-tree index \(entity.name).\(index) is left out: it needs one to five stored attributes.")
            return
        }
        let (name, host) = ("Z_RT_\(entity.name)_\(index)", table.name)
        let declared = columns.map { "\($0)_MIN FLOAT, \($0)_MAX FLOAT" }.joined(separator: ", ")
        let names = columns.map { "\($0)_MIN, \($0)_MAX" }.joined(separator: ", ")
        // Core Data writes the space before the first comma.
        let first = "NEW.\(columns[0]) ,NEW.\(columns[0])"
        let values = ([first] + columns.dropFirst().map { "NEW.\($0), NEW.\($0)" }).joined(separator: ", ")
        add(
            .rTree, name, on: name,
            "CREATE VIRTUAL TABLE \(name) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(declared))")
        func trigger(_ event: String, _ body: String) {
            add(
                .trigger, "\(name)_\(event)", on: host,
                "CREATE TRIGGER \(name)_\(event) AFTER \(event) ON \(host) FOR EACH ROW BEGIN \(body) ; END")
        }
        trigger("INSERT", "INSERT OR REPLACE INTO \(name) (Z_PK, \(names)) VALUES (NEW.Z_PK, \(values))")
        trigger(
            "UPDATE",
            "DELETE FROM \(name) WHERE Z_PK = NEW.Z_PK ; INSERT INTO \(name) (Z_PK, \(names)) VALUES (NEW.Z_PK, \(values))"
        )
        trigger("DELETE", "DELETE FROM \(name) WHERE Z_PK = OLD.Z_PK")
        // As the triggers would: every row of the table, whatever its entity.
        let selected = columns.map { "\($0), \($0)" }.joined(separator: ", ")
        rTreeFills[name] = "INSERT INTO \(name) (Z_PK, \(names)) SELECT Z_PK, \(selected) FROM \(host) ORDER BY Z_PK"
    }
}
