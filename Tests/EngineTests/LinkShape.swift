import CausewayModel
import CausewayStoreFormat
import Testing

/// The forms in which the links of `Thing.link`, with the inverse `back`, are stored.
enum LinkShape: String, CaseIterable, CustomTestStringConvertible {
    case one, oneOfMany, oneOfManyOrdered, oneToOne, manyAlone, manyOfOne, manyToMany, manyToManyOrdered

    var testDescription: String { rawValue }

    /// A row of `Thing` and one of `Base`.
    struct Pair: Hashable, Comparable, CustomStringConvertible {
        var thing: Int
        var base: Int

        var description: String { "\(thing)-\(base)" }
        static func < (a: Pair, b: Pair) -> Bool { (a.thing, a.base) < (b.thing, b.base) }
    }

    private var thingHasMany: Bool { [.manyAlone, .manyOfOne, .manyToMany, .manyToManyOrdered].contains(self) }
    private var isOrdered: Bool { [.oneOfManyOrdered, .manyToManyOrdered].contains(self) }

    /// `Thing.link`.
    func link(to target: String, named name: String = "link", was: String? = nil) -> String {
        let inverse = [.one, .manyAlone].contains(self) ? nil : "back"
        return thingHasMany
            ? toMany(name, target, inverse: inverse, ordered: self == .manyToManyOrdered, was: was)
            : toOne(name, target, inverse: inverse, was: was)
    }

    /// The inverse, as a property of the target.
    func back(of link: String = "link") -> String {
        switch self {
        case .one, .manyAlone: ""
        case .oneToOne, .manyOfOne: toOne("back", "Thing", inverse: link)
        case .oneOfMany, .oneOfManyOrdered, .manyToMany, .manyToManyOrdered:
            toMany("back", "Thing", inverse: link, ordered: isOrdered)
        }
    }

    /// Base with the subentities Left and Right, another root, and Thing with a relationship to one of them.
    func version(_ target: String, named name: String = "link", was: String? = nil) -> String {
        func back(_ entity: String) -> String { entity == target ? self.back(of: name) : "" }
        return model(
            entity("Base", back("Base")), entity("Left", parent: "Base", back("Left")),
            entity("Right", parent: "Base", back("Right")), entity("Other", back("Other")),
            entity("Thing", link(to: target, named: name, was: was)))
    }

    /// Row `n` of `Base` is a Base, a Left or a Right in turn.
    static func kind(ofBase number: Int) -> String { ["Right", "Base", "Left"][number % 3] }

    /// As many links as the form allows, to rows of one table.
    func pairs(_ count: Int) -> [Pair] {
        let single = (1...count).map { thingHasMany ? Pair(thing: $0 % 5 + 1, base: $0) : Pair(thing: $0, base: $0) }
        switch self {
        case .one, .oneOfMany, .oneOfManyOrdered:
            return (1...count).map { Pair(thing: $0, base: $0 * 7 % 6 + 1) }
        case .oneToOne, .manyAlone, .manyOfOne: return single
        case .manyToMany, .manyToManyOrdered:
            return (1...count).flatMap { thing in (0..<3).map { Pair(thing: thing, base: (thing + $0) % count + 1) } }
        }
    }

    /// Rows of Thing and Base, with these links, for a store of `version("Base")`.
    func rows(_ pairs: [Pair], count: Int) throws -> String {
        let layout = try Self.layout(version("Base"))
        let numbers = layout.entityNumbers
        var sql = ""
        for row in 1...count {
            sql += "INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT) VALUES (\(row), \(numbers["Thing"] ?? 0), 1);"
            sql +=
                "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT) VALUES (\(row), \(numbers[Self.kind(ofBase: row)] ?? 0), 1);"
        }
        for (place, pair) in pairs.enumerated() {
            let order = 2_048 + 1_024 * place
            let target = numbers[Self.kind(ofBase: pair.base)] ?? 0
            switch self {
            case .one, .oneOfMany, .oneOfManyOrdered, .oneToOne:
                let entity = layout.column(.toOneEntity(entity: "Thing", relationship: "link"))?.name ?? ""
                let order = layout.column(.orderKey(entity: "Thing", relationship: "link")).map {
                    ", \($0.name) = \(order)"
                }
                sql += "UPDATE ZTHING SET ZLINK = \(pair.base), \(entity) = \(target)\(order ?? "") "
                sql += "WHERE Z_PK = \(pair.thing);"
                if self == .oneToOne { sql += "UPDATE ZBASE SET ZBACK = \(pair.thing) WHERE Z_PK = \(pair.base);" }
            case .manyAlone, .manyOfOne:
                sql += "UPDATE ZBASE SET \(Self.column(layout, "Base")) = \(pair.thing) WHERE Z_PK = \(pair.base);"
            case .manyToMany, .manyToManyOrdered:
                let (table, thing, base) = try Self.join(layout, "Base")
                let found = layout.joinTables[0]
                let places = [found.ownerOrderColumn, found.destinationOrderColumn].compactMap(\.self)
                let columns = ([thing, base] + places).joined(separator: ", ")
                let values = ["\(pair.thing)", "\(pair.base)"] + places.map { _ in "\(order)" }
                sql += "INSERT INTO \(table) (\(columns)) VALUES (\(values.joined(separator: ", ")));"
            }
        }
        return sql
    }

    /// The links of a store of `version(target)`, from every side on which they are stored.
    func links(in path: String, target: String, named name: String = "link") throws -> [Pair] {
        let layout = try Self.layout(version(target, named: name))
        let table = layout.table(of: target)?.name ?? ""
        func read(_ sql: String) throws -> [Pair] {
            try Database.rows(sql, in: path).map { row in
                let cells = row.split(separator: "|").compactMap { Int($0) }
                return Pair(thing: cells[0], base: cells[1])
            }.sorted()
        }
        switch self {
        case .one, .oneOfMany, .oneOfManyOrdered, .oneToOne:
            let key = layout.column(.toOne(entity: "Thing", relationship: name))?.name ?? ""
            let found = try read("SELECT Z_PK, \(key) FROM ZTHING WHERE \(key) IS NOT NULL")
            guard self == .oneToOne else { return found }
            let other = try read("SELECT ZBACK, Z_PK FROM \(table) WHERE ZBACK IS NOT NULL")
            return found == other ? found : []
        case .manyAlone, .manyOfOne:
            let key = Self.column(layout, target, name)
            return try read("SELECT \(key), Z_PK FROM \(table) WHERE \(key) IS NOT NULL")
        case .manyToMany, .manyToManyOrdered:
            let (join, thing, base) = try Self.join(layout, target)
            return try read("SELECT \(thing), \(base) FROM \(join)")
        }
    }

    private static func column(_ layout: StoreLayout, _ target: String, _ name: String = "link") -> String {
        (layout.column(.virtualToOne(owner: "Thing", relationship: name))
            ?? layout.column(.toOne(entity: target, relationship: "back")))?.name ?? ""
    }

    private static func join(
        _ layout: StoreLayout, _ target: String
    ) throws -> (table: String, thing: String, base: String) {
        let table = layout.joinTables[0]
        return table.owner == "Thing"
            ? (table.name, table.ownerColumn, table.destinationColumn)
            : (table.name, table.destinationColumn, table.ownerColumn)
    }

    private static func layout(_ text: String) throws -> StoreLayout {
        try StoreLayout(
            model: try ModelReader.model(source: Array(text.utf8)), frameworkVersion: 1509, hints: LayoutHints())
    }
}
