import CausewayModel

/// Finds a layout's tables and columns in a real schema and notes missing ones.
struct StoreMatcher {
    let schema: StoreSchema
    let expected: StoreLayout
    var problems: [StoreFormatError] = []
    var extraColumns: [String: [String]] = [:]
    var staleEntityNames: [Int: String] = [:]

    private mutating func note(_ message: String, place: String, code: StoreFormatError.Code = .modelMismatch) {
        problems.append(StoreFormatError(code, message, place: place))
    }

    /// Rows have Z_ENT, so the store's numbering must be the model's. A name alone may be old.
    mutating func matchNumbers() {
        let rows = schema.primaryKeys.filter { $0.number < HistoryLayout.firstNumber }
        let numbers = expected.primaryKeyRows
        guard rows.count == numbers.count else {
            note(miscount(Set(rows.map(\.name))), place: "Z_PRIMARYKEY")
            return
        }
        for (row, entity) in zip(rows, numbers) {
            guard row.number == Int64(entity.number), row.parent == Int64(entity.parent) else {
                note(
                    "entity number \(row.number) (“\(row.name)”, parent \(row.parent)) should be \(entity.number), "
                        + "parent \(entity.parent): this isn't the store's model", place: entity.name)
                continue
            }
            guard row.name != entity.name else { continue }
            staleEntityNames[entity.number] = row.name
            if let other = expected.entityNumbers[row.name] {
                note(
                    "the store gives number \(row.number) to “\(row.name)”, which the model numbers \(other): this isn't "
                        + "the store's model", place: entity.name)
            }
        }
    }

    /// Why a store numbers more entities than the model has, or fewer.
    private func miscount(_ names: Set<String>) -> String {
        if let configuration = expected.model.configuration(of: names) {
            return "it numbers the entities of the configuration “\(configuration)” only: stores of one configuration "
                + "can't be read"
        }
        let known = Set(expected.primaryKeyRows.map(\.name))
        let differences = [("lacks", known.subtracting(names)), ("has besides", names.subtracting(known))]
            .filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.sorted().prefix(20).joined(separator: ", "))" }
        return "it numbers \(names.count) entities, but the model has \(known.count): it "
            + "\(differences.joined(separator: ", and ")); this isn't the store's model"
    }

    /// The ordinary table, or a note why it can't be used.
    private mutating func ordinaryTable(_ name: String, for entity: String) -> StoreSchema.Table? {
        if let table = schema.table(name) {
            if let generated = table.columns.first(where: \.isGenerated) {
                note(
                    "column \(generated.name) of \(name) is generated, which Core Data never makes: rebuild the table "
                        + "without it", place: entity, code: .unsupportedSchema)
            }
            if table.isWithoutRowID {
                note(
                    "\(name) is a table WITHOUT ROWID, which Core Data never makes: rebuild it", place: entity,
                    code: .unsupportedSchema)
            }
            return table
        }
        let other = schema.objects.first { $0.name.lowercased() == name.lowercased() }
        switch other?.kind {
        case .view, .table:
            note(
                "\(name) is \(other?.kind == .view ? "a view" : "a virtual table"), where Core Data has a table",
                place: entity, code: .unsupportedSchema)
        default:
            note("its table \(name) is missing: the store is damaged or this isn't its model", place: entity)
        }
        return nil
    }

    mutating func match(_ table: EntityTable) -> EntityTable? {
        guard let real = ordinaryTable(table.name, for: table.rootEntity) else { return nil }
        var found: [(position: Int, column: Column)] = []
        for column in table.columns {
            guard let position = real.position(of: column.name) else {
                note(
                    "column \(column.name) of \(table.name) is missing: the store is damaged or this isn't its model",
                    place: column.role.place ?? table.rootEntity)
                continue
            }
            let name = real.columns[position].name
            let named = Column(
                name: name, declaredType: column.declaredType, isUnique: column.isUnique, role: column.role)
            found.append((position, named))
            if column.role == .primaryKey, !real.isRowID(real.columns[position]) {
                note(
                    "Z_PK of \(table.name) isn't an INTEGER PRIMARY KEY: the table was made by hand; rebuild it",
                    place: table.rootEntity, code: .unsupportedSchema)
            }
        }
        noteExtraColumns(real, known: found.map(\.position))
        return EntityTable(
            name: real.name, rootEntity: table.rootEntity,
            columns: found.sorted { $0.position < $1.position }.map(\.column), constraints: table.constraints)
    }

    private mutating func noteExtraColumns(_ real: StoreSchema.Table, known: [Int]) {
        let known = Set(known)
        let extra = real.columns.indices.filter { !known.contains($0) }.map { real.columns[$0].name }
        if !extra.isEmpty { extraColumns[real.name] = extra }
    }
}

extension StoreMatcher {
    /// A join table under either side's name, its key columns with any clash number.
    mutating func match(_ join: JoinTable) -> JoinTable? {
        let candidates = [join, join.isReflexive ? nil : join.turned(expected.entityNumbers)].compactMap(\.self)
        var named: StoreSchema.Table?
        for candidate in candidates {
            guard let real = schema.table(candidate.name) else { continue }
            named = named ?? real
            if let found = match(candidate, in: real) { return found }
        }
        let place = "\(join.owner).\(join.relationship)"
        if let named {
            note(
                "the columns of its join table \(named.name) aren't \(join.columns.joined(separator: ", ")): the store "
                    + "is damaged or this isn't its model", place: place)
        } else {
            // Reports a view or virtual table of this name.
            _ = ordinaryTable(join.name, for: place)
        }
        return nil
    }

    private mutating func match(_ join: JoinTable, in real: StoreSchema.Table) -> JoinTable? {
        let bases =
            join.isReflexive ? [join.ownerColumn, join.destinationColumn] : join.keyBases(expected.entityNumbers)
        guard let (first, second) = keyColumns(bases, in: real) else { return nil }
        var columns = [first, second]
        var orders: [String?] = []
        for (order, key) in [(join.ownerOrderColumn, first), (join.destinationOrderColumn, second)] {
            guard order != nil else {
                orders.append(nil)
                continue
            }
            guard let position = real.position(of: SchemaNames.joinOrderKey(real.columns[key].name)) else { return nil }
            columns.append(position)
            orders.append(real.columns[position].name)
        }
        if ordinaryTable(real.name, for: join.owner) != nil { noteExtraColumns(real, known: columns) }
        return JoinTable(
            name: real.name, owner: join.owner, relationship: join.relationship, inverseOwner: join.inverseOwner,
            inverse: join.inverse, ownerColumn: real.columns[first].name, destinationColumn: real.columns[second].name,
            ownerOrderColumn: orders[0], destinationOrderColumn: orders[1], chosenAmid: join.chosenAmid)
    }

    /// Places of the two key columns; an exact name is preferred to one with a clash number.
    private func keyColumns(_ bases: [String], in real: StoreSchema.Table) -> (Int, Int)? {
        let choices = bases.map { base in
            real.columns.indices
                .compactMap { position in
                    SchemaNames.clashNumber(of: real.columns[position].name, base: base).map { (number: $0, position) }
                }
                .sorted { $0 < $1 }
                .map(\.1)
        }
        guard choices.count == 2 else { return nil }
        for first in choices[0] {
            if let second = choices[1].first(where: { $0 != first }) { return (first, second) }
        }
        return nil
    }
}

extension JoinTable {
    /// The key columns' names without clash numbers.
    func keyBases(_ numbers: [String: Int]) -> [String] {
        [
            SchemaNames.join(numbers[owner] ?? 0, inverse),
            SchemaNames.join(numbers[inverseOwner] ?? 0, relationship),
        ]
    }

    /// The same pair named by its other side.
    func turned(_ numbers: [String: Int]) -> JoinTable {
        JoinTable(
            name: SchemaNames.join(numbers[inverseOwner] ?? 0, inverse), owner: inverseOwner, relationship: inverse,
            inverseOwner: owner, inverse: relationship, ownerColumn: destinationColumn, destinationColumn: ownerColumn,
            ownerOrderColumn: destinationOrderColumn, destinationOrderColumn: ownerOrderColumn, chosenAmid: chosenAmid)
    }
}

extension ColumnRole {
    /// Entity and property, for messages; nil for house columns.
    package var place: String? {
        switch self {
        case .primaryKey, .entityNumber, .optimisticLock: nil
        case .attribute(let entity, let name), .toOne(let entity, let name), .toOneEntity(let entity, let name),
            .orderKey(let entity, let name), .virtualToOne(let entity, let name),
            .virtualOrderKey(let entity, let name):
            "\(entity).\(name)"
        }
    }
}
