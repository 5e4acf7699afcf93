import CausewayModel

/// Triggers of derived attributes. Their text is Core Data's; they call functions that exist only inside it
/// (InsideStoreFormat §7).
extension SchemaWriter {
    /// The triggers of a derived attribute come with the entity that it depends on, there by owner and the owner's
    /// dictionary order.
    mutating func addTriggersAndRTrees() {
        var dependents: [Int: [(owner: Int, place: Int, attribute: Attribute, form: DerivedForm)]] = [:]
        for (owner, entity) in outline.entities.enumerated() {
            for attribute in entity.attributes {
                guard let derivation = attribute.derivation, !attribute.isTransient else { continue }
                let form = DerivedForm(derivation.expression)
                let place = outline.propertyOrders[owner].firstIndex(of: attribute.name) ?? 0
                dependents[subject(of: form, owner: owner), default: []].append((owner, place, attribute, form))
            }
        }
        for index in outline.entities.indices {
            for (owner, _, attribute, form) in (dependents[index] ?? []).sorted(by: {
                ($0.owner, $0.place) < ($1.owner, $1.place)
            }) {
                addTriggers(of: attribute, form, owner: owner)
            }
            addRTrees(of: outline.entities[index])
        }
    }

    private func subject(of form: DerivedForm, owner: Int) -> Int {
        switch form {
        case .now, .other: owner
        case .count(let name), .copy(let name, _):
            outline.relationship(named: name, of: owner)
                .flatMap { outline.indexes[outline.relationship($0).destination] } ?? owner
        }
    }

    private mutating func addTriggers(of attribute: Attribute, _ form: DerivedForm, owner: Int) {
        let entity = outline.entities[owner]
        guard let table = layout.table(of: entity.name),
            let column = layout.column(.attribute(entity: entity.name, path: attribute.name))
        else { return }
        let subject = DerivedSubject(
            table: table.name, entity: entity.name, attribute: attribute.name, column: column.name)
        let triggers: [DerivedSubject.Trigger]? =
            switch form {
            case .now: subject.nowTriggers
            case .count(let name): countTriggers(subject, relationship: name, owner: owner)
            case .copy(let name, let target): copyTriggers(subject, relationship: name, attribute: target, owner: owner)
            case .other: nil
            }
        guard let triggers else {
            unsupported.append(
                "Derived attribute \(entity.name).\(attribute.name): the triggers of its derivation aren't known, so its "
                    + "values stay as they are carried or computed now, or NULL, until Core Data writes the row again.")
            return
        }
        for trigger in triggers {
            add(.trigger, trigger.name, on: trigger.table, "CREATE TRIGGER \(trigger.name) \(trigger.text)")
        }
    }

    private func countTriggers(
        _ subject: DerivedSubject, relationship name: String, owner: Int
    ) -> [DerivedSubject.Trigger]? {
        guard let id = outline.relationship(named: name, of: owner), outline.relationship(id).isToMany,
            !outline.isManyToMany(id),
            let key = layout.countedColumn(
                of: outline.relationship(id), declaredBy: outline.entities[id.entity].name)
        else { return nil }
        let hasRange =
            layout.frameworkVersion < FrameworkEra.derivedTriggersWithoutRange && outline.hasSubentities(owner)
        let range = hasRange ? outline.number(owner)...outline.number(outline.lastDescendants[owner]) : nil
        return subject.countTriggers(counted: key.table, key: key.column.name, range: range)
    }

    private func copyTriggers(
        _ subject: DerivedSubject, relationship name: String, attribute: String, owner: Int
    ) -> [DerivedSubject.Trigger]? {
        guard let id = outline.relationship(named: name, of: owner), !outline.relationship(id).isToMany,
            let destination = layout.table(of: outline.relationship(id).destination),
            let key = layout.column(of: name, in: outline.entities[owner].name),
            let source = layout.column(of: attribute, in: outline.relationship(id).destination)
        else { return nil }
        return subject.copyTriggers(from: destination.name, source: source.name, key: key.name)
    }
}

/// A derived attribute with the texts of its triggers.
private struct DerivedSubject {
    let table: String
    let entity: String
    let attribute: String
    let column: String

    typealias Trigger = (name: String, table: String, text: String)

    private func notify(_ function: String, where condition: String) -> String {
        "SELECT NSCoreDataDATrigger\(function)AffectedObjectValue('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
            + "FROM \(table) WHERE \(condition); END"
    }
    private func updated(where condition: String) -> String { notify("Updated", where: condition) }
    private func inserted(where condition: String) -> String { notify("InsertUpdated", where: condition) }
    private func name(on table: String, _ suffix: String) -> String { "Z_DA_\(table)_\(entity)_\(attribute)_\(suffix)" }

    var nowTriggers: [Trigger] {
        let set = "BEGIN UPDATE \(table) SET \(column) = NSCoreDataNow() WHERE Z_PK = NEW.Z_PK; "
        return [
            (
                name(on: table, "INSERT"), table,
                "AFTER INSERT ON \(table) FOR EACH ROW WHEN (NEW.Z_OPT NOT NULL) \(set)"
                    + inserted(where: "Z_PK = NEW.Z_PK")
            ),
            (
                name(on: table, "UPDATE"), table,
                "AFTER UPDATE OF Z_OPT ON \(table) FOR EACH ROW \(set)" + updated(where: "Z_PK = NEW.Z_PK")
            ),
        ]
    }

    func countTriggers(counted: String, key: String, range: ClosedRange<Int>?) -> [Trigger] {
        let rows = range.map { " AND \($0.lowerBound) <= Z_ENT AND Z_ENT <= \($0.upperBound)" } ?? ""
        let newRow = range.map { " WHEN \($0.lowerBound) <= NEW.Z_ENT AND NEW.Z_ENT <= \($0.upperBound)" } ?? ""
        func step(_ suffix: String, _ event: String, _ side: String, _ sum: String) -> Trigger {
            let match = "Z_PK = \(side).\(key)\(rows)"
            return (
                name(on: counted, "PARAMETER_" + suffix), counted,
                "AFTER \(event) ON \(counted) FOR EACH ROW WHEN (\(side).\(key) NOT NULL) BEGIN UPDATE \(table) "
                    + "SET \(column) = \(sum) WHERE \(match); " + updated(where: match)
            )
        }
        return [
            step("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            step("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1"),
            step("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1"),
            step("DELETE", "DELETE", "OLD", "\(column) - 1"),
            (
                name(on: table, "SOURCE_INSERT"), table,
                "AFTER INSERT ON \(table) FOR EACH ROW\(newRow) BEGIN UPDATE \(table) SET \(column) = "
                    + "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(counted) WHERE \(key) = NEW.Z_PK) "
                    + "WHERE Z_PK = NEW.Z_PK; " + inserted(where: "Z_PK = NEW.Z_PK")
            ),
        ]
    }

    func copyTriggers(from other: String, source: String, key: String) -> [Trigger] {
        let pull =
            "UPDATE \(table) SET \(column) = (SELECT \(source) FROM \(other) WHERE Z_PK = NEW.\(key)) "
            + "WHERE Z_PK = NEW.Z_PK; "
        let push = "UPDATE \(table) SET \(column) = NEW.\(source) WHERE \(key) = NEW.Z_PK; "
        return [
            (
                name(on: table, "SOURCE_INSERT"), table,
                "AFTER INSERT ON \(table) FOR EACH ROW BEGIN \(pull)" + inserted(where: "Z_PK = NEW.Z_PK")
            ),
            (
                name(on: table, "SOURCE_UPDATE"), table,
                "AFTER UPDATE OF \(key) ON \(table) FOR EACH ROW BEGIN \(pull)" + updated(where: "Z_PK = NEW.Z_PK")
            ),
            (
                name(on: other, "PARAMETER_INSERT"), other,
                "AFTER INSERT ON \(other) FOR EACH ROW BEGIN \(push)" + inserted(where: "\(key) = NEW.Z_PK")
            ),
            (
                name(on: other, "PARAMETER_UPDATE"), other,
                "AFTER UPDATE OF \(source) ON \(other) FOR EACH ROW BEGIN \(push)"
                    + updated(where: "\(key) = NEW.Z_PK")
            ),
        ]
    }
}
