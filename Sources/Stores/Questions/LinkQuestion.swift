import CausewayModel
package import CausewaySQLite
package import CausewayStoreFormat

/// One rule for the links of a relationship, with the statement that finds the keys of the rows that break it.
package struct LinkQuestion {
    package enum Kind: Hashable {
        /// The link leads to a row that isn't there, or that is of another entity.
        case dangling
        /// The column beside the key names another Z_ENT than the row at the other end has.
        case entityNumber
        /// The row at the other end of a one-to-one doesn't lead back.
        case asymmetric
        /// A row of a join table without the row at its naming end.
        case joinOwner
        /// A row of a join table without the row at its other end.
        case joinDestination

        /// Whether one can turn into the other when the form of a relationship changes: a column becomes a join table.
        package func isSameDamage(as other: Kind) -> Bool {
            let missing: Set<Kind> = [.dangling, .joinOwner, .joinDestination]
            return self == other || missing.isSuperset(of: [self, other])
        }
    }

    package let kind: Kind
    /// Declares the relationship; for a to-many without inverse the owner.
    package let entity: String
    package let relationship: String
    /// The entity whose keys they are.
    let keysOf: String
    package let sql: String

    /// What is wrong with the rows.
    package var complaint: String {
        switch kind {
        case .dangling: "leads to a row that isn't there"
        case .entityNumber: "names another entity than its target row has"
        case .asymmetric: "has no link back from the row at its other end"
        case .joinOwner, .joinDestination: "lacks the \(keysOf) end of its link"
        }
    }

    /// Every query about a layout's links, in the model's order.
    ///
    /// Cost of each: a scan of the column, through its index where there is one, with a look-up by key for every link.
    package static func all(_ layout: StoreLayout) throws(SQLiteError) -> [LinkQuestion] {
        try LinkColumn.all(layout).flatMap(\.questions)
    }

    fileprivate static func joinQuestions(
        _ join: JoinTable, _ layout: StoreLayout
    ) throws(SQLiteError) -> [LinkQuestion] {
        func question(
            _ kind: Kind, _ entity: String, _ relationship: String, _ column: String
        ) throws(SQLiteError) -> LinkQuestion? {
            guard let table = layout.table(of: entity), let numbers = layout.numbers(ofTree: entity) else { return nil }
            let key = "t.\(try SQLIdentifier(column))"
            return LinkQuestion(
                kind: kind, entity: entity, relationship: relationship, keysOf: entity,
                sql: """
                    SELECT \(key) FROM \(try SQLIdentifier(join.name)) AS t WHERE NOT EXISTS \
                    (\(try row(key, in: table.name, numbers)))
                    """)
        }
        return [
            try question(.joinOwner, join.owner, join.relationship, join.ownerColumn),
            try question(.joinDestination, join.inverseOwner, join.inverse, join.destinationColumn),
        ].compactMap(\.self)
    }

    /// The row with a key, if it is of certain entities.
    fileprivate static func row(
        _ key: String, in table: String, _ numbers: ClosedRange<Int>
    ) throws(SQLiteError) -> String {
        """
        SELECT 1 FROM \(try SQLIdentifier(table)) AS d WHERE d."Z_PK" = \(key) \
        AND d."Z_ENT" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)
        """
    }
}

/// The end of a relationship that has the other's key in a column.
private struct End {
    let entity: String
    let relationship: Relationship
    /// The rows with the column: those of the entity, or for a to-many without inverse those of its destination.
    let holder: String
    let target: String
    let column: Column
    let entityColumn: Column?

    init?(_ layout: StoreLayout, entity: String, _ relationship: Relationship) throws(SQLiteError) {
        self.entity = entity
        self.relationship = relationship
        let name = relationship.name
        if relationship.isToMany {
            guard let column = layout.column(.virtualToOne(owner: entity, relationship: name)) else { return nil }
            (holder, target) = (relationship.destination, entity)
            (self.column, entityColumn) = (column, nil)
        } else {
            guard let column = layout.column(.toOne(entity: entity, relationship: name)) else { return nil }
            (holder, target) = (entity, relationship.destination)
            self.column = column
            entityColumn = layout.column(.toOneEntity(entity: entity, relationship: name))
        }
    }

    func questions(_ layout: StoreLayout) throws(SQLiteError) -> [LinkQuestion] {
        guard let table = layout.table(of: holder), let numbers = layout.numbers(ofTree: holder),
            let targetTable = layout.table(of: target), let targets = layout.numbers(ofTree: target)
        else { return [] }
        let (name, other) = (try SQLIdentifier(table.name), try SQLIdentifier(targetTable.name))
        let key = "t.\(try SQLIdentifier(column.name))"
        let mine = "t.\"Z_ENT\" BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
        let joined = "\(name) AS t JOIN \(other) AS d ON d.\"Z_PK\" = \(key) WHERE \(mine)"
        var questions = [
            question(
                .dangling,
                """
                SELECT t."Z_PK" FROM \(name) AS t WHERE \(key) IS NOT NULL AND \(mine) AND NOT EXISTS \
                (\(try LinkQuestion.row(key, in: targetTable.name, targets)))
                """)
        ]
        if let entityColumn {
            let number = "t.\(try SQLIdentifier(entityColumn.name))"
            questions.append(
                question(.entityNumber, "SELECT t.\"Z_PK\" FROM \(joined) AND \(number) IS NOT d.\"Z_ENT\""))
        }
        if let back = try columnBack(layout) {
            questions.append(question(.asymmetric, "SELECT t.\"Z_PK\" FROM \(joined) AND d.\(back) IS NOT t.\"Z_PK\""))
        }
        return questions
    }

    /// The column of a one-to-one's other end.
    private func columnBack(_ layout: StoreLayout) throws(SQLiteError) -> SQLIdentifier? {
        guard !relationship.isToMany, let inverse = layout.model.inverse(of: relationship),
            !inverse.relationship.isToMany, !inverse.relationship.isTransient
        else { return nil }
        let role = ColumnRole.toOne(entity: inverse.owner, relationship: inverse.relationship.name)
        guard let column = layout.column(role) else { return nil }
        return try SQLIdentifier(column.name)
    }

    private func question(_ kind: LinkQuestion.Kind, _ sql: String) -> LinkQuestion {
        LinkQuestion(kind: kind, entity: entity, relationship: relationship.name, keysOf: holder, sql: sql)
    }
}

/// A column that holds keys of another table's rows.
package struct LinkColumn {
    package let table: String
    package let column: String
    package let entityColumn: String?
    /// The table of the rows at the other end.
    package let target: String
    /// Z_ENT that rows at the other end may have.
    package let numbers: ClosedRange<Int64>
    /// Z_ENT of the rows that have the relationship; nil for a join table.
    package let holders: ClosedRange<Int64>?
    package let danglingKind: LinkQuestion.Kind
    /// The same in SQL.
    package let questions: [LinkQuestion]

    package var isOfJoinTable: Bool { holders == nil }

    /// Every such column of a layout, in the model's order.
    package static func all(_ layout: StoreLayout) throws(SQLiteError) -> [LinkColumn] {
        var result: [LinkColumn] = []
        for name in layout.entities {
            for relationship in layout.model.entities[name]?.relationships ?? [] where !relationship.isTransient {
                guard let end = try End(layout, entity: name, relationship), let table = layout.table(of: end.holder),
                    let numbers = layout.numbers(ofTree: end.holder), let target = layout.table(of: end.target),
                    let targets = layout.numbers(ofTree: end.target)
                else { continue }
                result.append(
                    LinkColumn(
                        table: table.name, column: end.column.name, entityColumn: end.entityColumn?.name,
                        target: target.name, numbers: wide(targets), holders: wide(numbers), danglingKind: .dangling,
                        questions: try end.questions(layout)))
            }
        }
        for join in layout.joinTables {
            for question in try LinkQuestion.joinQuestions(join, layout) {
                guard let target = layout.table(of: question.entity),
                    let targets = layout.numbers(ofTree: question.entity)
                else { continue }
                result.append(
                    LinkColumn(
                        table: join.name,
                        column: question.kind == .joinOwner ? join.ownerColumn : join.destinationColumn,
                        entityColumn: nil, target: target.name, numbers: wide(targets), holders: nil,
                        danglingKind: question.kind, questions: [question]))
            }
        }
        return result
    }

    private static func wide(_ range: ClosedRange<Int>) -> ClosedRange<Int64> {
        Int64(range.lowerBound)...Int64(range.upperBound)
    }
}
