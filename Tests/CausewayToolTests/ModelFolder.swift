import Foundation

/// Models as Xcode writes them, an element a line, in a folder of a test's own.
struct ModelFolder {
    let folder: WorkFolder

    init() throws {
        folder = try WorkFolder()
    }

    func path(_ name: String) -> String { folder.path(name) }

    /// `<entity …>` with these elements, on three lines.
    static func entity(_ name: String, _ properties: String...) -> String {
        "    <entity name=\"\(name)\" representedClassName=\"\(name)\" syncable=\"YES\">\n        \(properties.joined())\n"
            + "    </entity>"
    }

    static func attribute(_ name: String, _ type: String = "String") -> String {
        "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\"/>"
    }

    /// The source of one version, beginning with two lines.
    static func source(_ entities: [String], identifier: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
        userDefinedModelVersionIdentifier="\(identifier)">
        \(entities.joined(separator: "\n"))
        </model>
        """
    }

    /// Writes a bundle's versions; its path.
    @discardableResult
    func bundle(_ name: String, _ versions: [(String, [String])], current: String? = nil) throws -> String {
        let path = folder.path(name + ".xcdatamodeld")
        for (version, entities) in versions {
            try write(Self.source(entities), to: "\(name).xcdatamodeld/\(version).xcdatamodel/contents")
        }
        if let current {
            try write(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict>\
                </plist>
                """, to: "\(name).xcdatamodeld/.xccurrentversion")
        }
        return path
    }

    /// Writes a model of one version; its path.
    func model(_ name: String, _ entities: [String]) throws -> String {
        try write(Self.source(entities), to: "\(name).xcdatamodel/contents")
        return folder.path(name + ".xcdatamodel")
    }

    /// Writes a mapping model of one entity's name, as Xcode's editor saves it for these two versions.
    func mappingModel(_ name: String, from source: String, to destination: String, entity: String) throws {
        try write(
            """
            <?xml version="1.0" standalone="yes"?>
            <database>
                <object type="XDDEVATTRIBUTEMAPPING" id="z3">
                    <attribute name="name" type="string">name</attribute>
                    <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
                </object>
                <object type="XDDEVENTITYMAPPING" id="z2">
                    <attribute name="sourcename" type="string">\(entity)</attribute>
                    <attribute name="destinationname" type="string">\(entity)</attribute>
                    <attribute name="mappingtypename" type="string">Undefined</attribute>
                    <attribute name="mappingnumber" type="int16">1</attribute>
                    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z1"/>
                    <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z3"/>
                </object>
                <object type="XDDEVMAPPINGMODEL" id="z1">
                    <attribute name="sourcemodelpath" type="string">\(source).xcdatamodel</attribute>
                    <attribute name="destinationmodelpath" type="string">\(destination).xcdatamodel</attribute>
                    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
                </object>
            </database>
            """, to: "\(name).xcmappingmodel/xcmapping.xml")
    }

    func write(_ text: String, to name: String) throws {
        let file = folder.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
    }

    /// Runs the command in the folder.
    func run(_ arguments: String...) throws -> ToolProcess { try ToolProcess(arguments, in: folder.url) }

    /// Makes a store of a model's version with twenty rows.
    func store(_ name: String, of model: String, version: String) throws -> String {
        let made = try run("generate", model, name, "--version", version, "--rows", "20", "--seed", "1")
        guard made.status == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["errors": made.errors]) }
        return path(name)
    }
}
