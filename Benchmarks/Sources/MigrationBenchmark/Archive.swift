import Foundation

/// The model history that is measured. It is made in code, because chains of 40 versions aren't for reading.
///
/// Every history of one shape begins with the same version `v0`, so that one store serves all of them. Version `vN`
/// comes of `v(N-1)` by one change.
struct Archive {
    /// Which tables there are.
    enum Shape: String, Codable {
        /// Three large tables of three entities, three small ones, a join table; ten indexes.
        case spread
        /// One table that holds more than nine tenths of the store.
        case single
    }

    /// What one step changes.
    enum Change: String, Codable {
        /// In every table an attribute renamed, one added with a value, one dropped.
        case attributes
        /// An entity added in front of all others, so that every Z_ENT grows by one and nothing else changes.
        case entity
        /// As `attributes`, in one small table.
        case smallTable
    }

    let shape: Shape
    let change: Change
    /// Versions beside `v0`.
    let steps: Int

    /// The table that `smallTable` changes.
    static let smallTable = "Tag"
    static let source = "v0"

    static func version(_ number: Int) -> String { "v\(number)" }

    /// Writes the history below a folder, if it isn't there.
    /// - Returns: path of the `.xcdatamodeld`.
    func write(to folder: URL) throws -> String {
        let bundle = folder.appendingPathComponent("\(shape)-\(change)-\(steps).xcdatamodeld")
        let pointer = bundle.appendingPathComponent(".xccurrentversion")
        if FileManager.default.fileExists(atPath: pointer.path) { return bundle.path }
        for number in 0...steps {
            let name = "\(Self.version(number)).xcdatamodel"
            let version = bundle.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            try contents(number).write(
                to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let current = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key>\
            <string>\(Self.version(steps)).xcdatamodel</string></dict></plist>
            """
        try current.write(to: pointer, atomically: true, encoding: .utf8)
        return bundle.path
    }

    /// The entities that a step changes, by name; their tables have the name in capitals after a Z.
    var changed: [String] {
        switch change {
        case .attributes: shape.entities.map(\.name)
        case .entity: []
        case .smallTable: [Self.smallTable]
        }
    }

    private func contents(_ number: Int) -> String {
        let added = change == .entity ? number : 0
        // Digits sort before letters: the last one is the first in the alphabet.
        let fronts = (0..<added).map { Entity("A\(99 - $0)") }
        let entities = (fronts + shape.entities).sorted { $0.name < $1.name }.map { entity in
            entity.text(version: changed.contains(entity.name) ? number : 0)
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
            lastSavedToolsVersion="23231" systemVersion="24A348" minimumToolsVersion="Automatic" \
            sourceLanguage="Swift" userDefinedModelVersionIdentifier="\(Self.version(number))">
            \(entities.joined(separator: "\n"))
            </model>

            """
    }
}

extension Archive.Shape {
    /// In the order of their names, which is that of their numbers. The first is a small one: its number 1 is stored in
    /// no byte, and grows by one (https://www.sqlite.org/fileformat2.html#record_format, serial types 8 and 9).
    fileprivate var entities: [Archive.Entity] {
        let tags = Archive.Link("tags", to: "Tag", inverse: "entries", isToMany: true)
        let entries = Archive.Link("entries", to: "Article", inverse: "tags", isToMany: true)
        let account = { inverse in Archive.Link("account", to: "Account", inverse: inverse) }
        let article = { inverse in Archive.Link("article", to: "Article", inverse: inverse) }
        let many = { name, entity, inverse in Archive.Link(name, to: entity, inverse: inverse, isToMany: true) }
        switch self {
        case .spread:
            return [
                Archive.Entity(
                    "Account",
                    links: [
                        many("articles", "Article", "account"), many("attachments", "Attachment", "account"),
                        many("comments", "Comment", "account"),
                    ]),
                Archive.Entity(
                    "Article", isLarge: true,
                    links: [
                        account("articles"), many("attachments", "Attachment", "article"),
                        many("comments", "Comment", "article"),
                        Archive.Link("section", to: "Section", inverse: "articles"), tags,
                    ], isIndexed: true),
                Archive.Entity("Attachment", isLarge: true, links: [account("attachments"), article("attachments")]),
                Archive.Entity("Comment", isLarge: true, links: [account("comments"), article("comments")]),
                Archive.Entity("Section", links: [many("articles", "Article", "section")]),
                Archive.Entity(Archive.smallTable, links: [entries]),
            ]
        case .single:
            return [
                Archive.Entity("Account", links: [many("articles", "Article", "account")]),
                Archive.Entity(
                    "Article", isLarge: true,
                    links: [account("articles"), Archive.Link("section", to: "Section", inverse: "articles")],
                    isIndexed: true),
                Archive.Entity("Section", links: [many("articles", "Article", "section")]),
                Archive.Entity(Archive.smallTable),
            ]
        }
    }
}

extension Archive {
    fileprivate struct Link {
        let name: String
        let destination: String
        let inverse: String
        let isToMany: Bool

        init(_ name: String, to destination: String, inverse: String, isToMany: Bool = false) {
            (self.name, self.destination, self.inverse) = (name, destination, inverse)
            self.isToMany = isToMany
        }

        var text: String {
            """
            <relationship name="\(name)" optional="YES" \(isToMany ? #"toMany="YES""# : #"maxCount="1""#) \
            deletionRule="Nullify" destinationEntity="\(destination)" inverseName="\(inverse)" \
            inverseEntity="\(destination)"/>
            """
        }
    }

    fileprivate struct Entity {
        let name: String
        /// With texts of several hundred bytes.
        let isLarge: Bool
        let links: [Link]
        /// By its date.
        let isIndexed: Bool

        init(_ name: String, isLarge: Bool = false, links: [Link] = [], isIndexed: Bool = false) {
            (self.name, self.isLarge, self.links, self.isIndexed) = (name, isLarge, links, isIndexed)
        }

        /// What changes in the entity from version to version: `title` is renamed, `extra` dropped and added anew with
        /// the version's number as its value.
        func text(version: Int) -> String {
            let renamed = version == 0 ? "" : " elementID=\"title\(version - 1)\""
            var lines = [
                """
                <attribute name="created" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
                """,
                """
                <attribute name="extra\(version)" attributeType="Integer 32" defaultValueString="\(version)" \
                usesScalarValueType="YES"/>
                """,
                """
                <attribute name="title\(version)" optional="YES" attributeType="String"\(renamed)/>
                """,
                """
                <attribute name="views" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
                """,
            ]
            if isLarge { lines.insert(#"<attribute name="text" optional="YES" attributeType="String"/>"#, at: 0) }
            lines += links.sorted { $0.name < $1.name }.map(\.text)
            if isIndexed {
                lines.append(
                    """
                    <fetchIndex name="byCreated"><fetchIndexElement property="created" type="Binary" \
                    order="ascending"/></fetchIndex>
                    """)
            }
            return """
                <entity name="\(name)" representedClassName="\(name)" syncable="YES" codeGenerationType="class">
                \(lines.joined(separator: "\n"))
                </entity>
                """
        }
    }
}
