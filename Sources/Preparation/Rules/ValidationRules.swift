import CausewayExpressions
import CausewayModel
package import CausewaySQLiteFile
package import CausewayStoreFormat
package import CausewayStores

/// Every rule of a model for a store's rows, in the model's order.
///
/// An entity's rules hold for its subentities too: their Z_ENT follow the entity's own.
package struct ValidationRules {
    /// A valid default that a value may become.
    package struct Remedy {
        package let table: Int
        package let column: String
        package let value: CellValue
    }

    package private(set) var rules: [ValidationRule] = []
    package private(set) var rowChecks: [RowCheck] = []
    package private(set) var countChecks: [CountCheck] = []
    package private(set) var joinChecks: [JoinCheck] = []
    package private(set) var uniquenessChecks: [UniquenessCheck] = []
    package private(set) var remedies: [Remedy] = []
    /// Rules that aren't checked: one sentence each.
    package private(set) var unchecked: [String] = []

    private struct Link: Hashable {
        let table: Int
        let column: String
    }

    /// Places of the row checks of each column with links.
    private var linkChecks: [Link: [Int]] = [:]
    private let layout: StoreLayout
    private let tablesByRoot: [String: Int]

    /// - Throws: `.plan` where a regular expression of the model can't be compiled.
    package init(_ layout: StoreLayout) throws(EngineError) {
        self.layout = layout
        tablesByRoot = Dictionary(zip(layout.tables.map(\.rootEntity), 0...), uniquingKeysWith: { first, _ in first })
        for name in layout.entities {
            guard let entity = layout.model.entities[name] else { continue }
            for attribute in entity.attributes {
                try add(attribute, path: attribute.name, of: entity, present: [])
            }
            for relationship in entity.relationships where !relationship.isTransient {
                if relationship.isToMany {
                    addToMany(relationship, of: entity)
                } else {
                    addToOne(relationship, of: entity)
                }
            }
            for constraint in entity.uniquenessConstraints { addUniqueness(constraint, of: entity) }
        }
        for join in layout.joinTables { add(join) }
        for (place, check) in rowChecks.enumerated() {
            switch check.condition {
            case .hasNoTarget(let column, _), .isDangling(let column, _, _):
                linkChecks[Link(table: rules[check.rule].table, column: column), default: []].append(place)
            case .isNull, .fails: break
            }
        }
    }

    /// Checks of one table's rows, in the model's order.
    package func rowChecks(ofTable table: Int) -> [RowCheck] {
        rowChecks.filter { rules[$0.rule].table == table }
    }

    /// The same, in parts of so many checks, and of each part only those that are asked for: what is in a part doesn't
    /// depend on that.
    ///
    /// - Parameters:
    ///   - table: its place.
    ///   - count: of a part.
    ///   - places: among all row checks; nil for all of them.
    /// - Returns: the parts that have any.
    package func rowChecks(ofTable table: Int, inPartsOf count: Int, only places: Set<Int>?) -> [[RowCheck]] {
        let all = rowChecks.indices.filter { rules[rowChecks[$0].rule].table == table }
        return stride(from: 0, to: all.count, by: count).map { first in
            all[first..<min(first + count, all.count)].filter { places?.contains($0) != false }.map { rowChecks[$0] }
        }.filter { !$0.isEmpty }
    }

    /// Checks of a column whether its links lead to rows, by their places among the row checks.
    ///
    /// - Parameters:
    ///   - column: of links.
    ///   - table: its table's place.
    ///   - isForAny: only those that every row of the target's table fulfils.
    /// - Returns: their places.
    package func danglingChecks(of column: String, inTable table: Int, forAnyRow isForAny: Bool = false) -> [Int] {
        (linkChecks[Link(table: table, column: column)] ?? []).filter { place in
            guard case .isDangling(_, let target, let numbers) = rowChecks[place].condition else { return false }
            let all = layout.numbers(ofTree: layout.tables[target].rootEntity)
            return !isForAny || all.map { numbers.contains($0.lowerBound) && numbers.contains($0.upperBound) } == true
        }
    }

    /// Whether a link that leads to no row breaks a rule: it is mandatory, or rows of other entities are in the
    /// target's table.
    package func mustLead(_ column: String, inTable table: Int) -> Bool {
        !targetChecks(of: column, inTable: table).isEmpty
            || danglingChecks(of: column, inTable: table) != danglingChecks(of: column, inTable: table, forAnyRow: true)
    }

    /// Checks of a column whether it has a target, by their places among the row checks.
    package func targetChecks(of column: String, inTable table: Int) -> [Int] {
        (linkChecks[Link(table: table, column: column)] ?? []).filter { place in
            if case .hasNoTarget = rowChecks[place].condition { true } else { false }
        }
    }

    private func table(of entity: String) -> Int? { tablesByRoot[layout.model.root(of: entity)] }

    private mutating func rule(
        _ kind: ValidationRule.Kind, _ property: String, table: Int, isRelationship: Bool = false
    ) -> Int {
        rules.append(ValidationRule(kind: kind, property: property, isRelationship: isRelationship, table: table))
        return rules.count - 1
    }

    // MARK: - Attributes

    /// `present` are the columns of the enclosing composites: their elements are mandatory only if there is a
    /// composite. Derived and transient attributes aren't checked: the first are recomputed, the second not stored.
    private mutating func add(
        _ attribute: Attribute, path: String, of entity: Entity, present: [String]
    ) throws(EngineError) {
        guard !attribute.isTransient, attribute.derivation == nil else { return }
        if attribute.type == .composite {
            // On disk a nil composite and one whose elements are all nil look the same (InsideStoreFormat §4.2).
            let present = attribute.isOptional ? leafColumns(of: attribute, path: path, entity.name) : present
            for element in attribute.elements {
                try add(element, path: "\(path).\(element.name)", of: entity, present: present)
            }
            return
        }
        guard let column = layout.column(.attribute(entity: entity.name, path: path))?.name,
            let numbers = layout.numbers(ofTree: entity.name), let table = table(of: entity.name)
        else { return }
        let tests = try tests(of: attribute, path: path, entity: entity.name)
        let remedy = try remedy(of: attribute, tests.map(\.test), table: table, column: column)
        if !attribute.isOptional {
            let rule = rule(.missing, path, table: table)
            rowChecks.append(
                RowCheck(
                    rule: rule, numbers: numbers, condition: .isNull(column: column, present: present), remedy: remedy))
        }
        for (kind, test) in tests {
            let rule = rule(kind, path, table: table)
            let condition = RowCheck.Condition.fails(test, column: column, isDecimal: attribute.type == .decimal)
            rowChecks.append(RowCheck(rule: rule, numbers: numbers, condition: condition, remedy: remedy))
        }
    }

    private func leafColumns(of attribute: Attribute, path: String, _ entity: String) -> [String] {
        guard attribute.type == .composite else {
            return layout.column(.attribute(entity: entity, path: path)).map { [$0.name] } ?? []
        }
        return attribute.elements.flatMap { leafColumns(of: $0, path: "\(path).\($0.name)", entity) }
    }

    private mutating func tests(
        of attribute: Attribute, path: String, entity: String
    ) throws(EngineError) -> [(kind: ValidationRule.Kind, test: ValueTest)] {
        let place = "\(entity).\(path)"
        let compiler = ValueTestCompiler(attribute: attribute, place: place)
        var result: [(kind: ValidationRule.Kind, test: ValueTest)] = []
        for validation in attribute.validations {
            guard let test = try compiler.test(validation.predicate) else {
                unchecked.append("\(place): a validation predicate isn't checked: its form isn't known.")
                continue
            }
            var kind = ValidationRule.Kind.invalid
            if case .integer(let code) = validation.warning { kind = ValidationRule.Kind(warning: code) }
            result.append((kind, test))
        }
        return result
    }

    /// The default, where there is one and it passes every test.
    private mutating func remedy(
        of attribute: Attribute, _ tests: [ValueTest], table: Int, column: String
    ) throws(EngineError) -> Int? {
        guard let value = CellValue(attribute.defaultValue, as: attribute), value != .null else { return nil }
        for test in tests where try !test.holds(for: ValueTest.compared(value, isDecimal: attribute.type == .decimal)) {
            return nil
        }
        remedies.append(Remedy(table: table, column: column, value: value))
        return remedies.count - 1
    }

    // MARK: - Relationships

    private mutating func addToOne(_ relationship: Relationship, of entity: Entity) {
        guard let column = layout.column(.toOne(entity: entity.name, relationship: relationship.name))?.name,
            let numbers = layout.numbers(ofTree: entity.name), let table = table(of: entity.name),
            let target = self.table(of: relationship.destination)
        else { return }
        if !relationship.isOptional {
            let rule = rule(.missing, relationship.name, table: table, isRelationship: true)
            let condition = RowCheck.Condition.hasNoTarget(column: column, target: target)
            rowChecks.append(RowCheck(rule: rule, numbers: numbers, condition: condition, remedy: nil))
        }
        addDangling(
            relationship.name, column, of: numbers, table: table, pointingTo: relationship.destination, target: target)
    }

    private mutating func addDangling(
        _ property: String, _ column: String, of numbers: ClosedRange<Int>, table: Int, pointingTo entity: String,
        target: Int
    ) {
        guard let targets = layout.numbers(ofTree: entity) else { return }
        let rule = rule(.dangling, property, table: table, isRelationship: true)
        let condition = RowCheck.Condition.isDangling(column: column, target: target, numbers: targets)
        rowChecks.append(RowCheck(rule: rule, numbers: numbers, condition: condition, remedy: nil))
    }

    private mutating func addToMany(_ relationship: Relationship, of entity: Entity) {
        guard let numbers = layout.numbers(ofTree: entity.name), let owner = table(of: entity.name) else { return }
        let members: CountCheck.Members
        let memberEntity: String
        if let (join, isNaming) = layout.joinTable(of: relationship.name, declaredBy: entity.name) {
            members = .join(
                CountCheck.JoinSide(
                    table: join.name, mine: isNaming ? join.ownerColumn : join.destinationColumn,
                    theirs: isNaming ? join.destinationColumn : join.ownerColumn, isReflexive: join.isReflexive))
            memberEntity = isNaming ? join.inverseOwner : join.owner
        } else if let inverse = layout.model.inverse(of: relationship) {
            let role = ColumnRole.toOne(entity: inverse.owner, relationship: inverse.relationship.name)
            guard let column = layout.column(role)?.name else { return }
            members = .column(column)
            memberEntity = inverse.owner
        } else {
            let role = ColumnRole.virtualToOne(owner: entity.name, relationship: relationship.name)
            guard let column = layout.column(role)?.name,
                let rows = layout.numbers(ofTree: relationship.destination),
                let table = table(of: relationship.destination)
            else { return }
            members = .column(column)
            memberEntity = relationship.destination
            // There is no stored link back: the member is the row with the dangling link.
            addDangling(
                "\(entity.name).\(relationship.name)", column, of: rows, table: table, pointingTo: entity.name,
                target: owner)
        }
        guard relationship.minCount > 0 || relationship.maxCount > 0, let memberTable = table(of: memberEntity) else {
            return
        }
        countChecks.append(
            CountCheck(
                tooFew: rule(.tooFew, relationship.name, table: owner, isRelationship: true),
                tooMany: rule(.tooMany, relationship.name, table: owner, isRelationship: true),
                owner: owner, numbers: numbers, memberTable: memberTable, members: members,
                least: max(0, relationship.minCount), most: max(0, relationship.maxCount),
                isOptional: relationship.isOptional))
    }

    private mutating func add(_ join: JoinTable) {
        guard let owners = layout.numbers(ofTree: join.owner), let owner = table(of: join.owner),
            let destinations = layout.numbers(ofTree: join.inverseOwner), let destination = table(of: join.inverseOwner)
        else { return }
        let ownerRule = rule(.dangling, join.relationship, table: owner, isRelationship: true)
        let destinationRule = rule(.dangling, join.inverse, table: destination, isRelationship: true)
        joinChecks.append(
            JoinCheck(
                table: join.name,
                owner: JoinCheck.End(rule: ownerRule, column: join.ownerColumn, table: owner, numbers: owners),
                destination: JoinCheck.End(
                    rule: destinationRule, column: join.destinationColumn, table: destination, numbers: destinations)))
    }

    /// A constraint that isn't fully stored has no index and isn't checked (`SchemaWriter`).
    private mutating func addUniqueness(_ properties: [String], of entity: Entity) {
        let columns = properties.compactMap { layout.column(of: $0, in: entity.name)?.name }
        guard !columns.isEmpty, columns.count == properties.count, let table = table(of: entity.name) else { return }
        let rule = rule(.notUnique, properties.joined(separator: ", "), table: table)
        uniquenessChecks.append(UniquenessCheck(rule: rule, table: table, columns: columns))
    }
}
