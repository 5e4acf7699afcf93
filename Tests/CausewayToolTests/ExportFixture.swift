import Causeway
import CausewaySQLite
import Foundation
import Testing

/// A small library with one of everything that an export writes in its own way.
struct ExportFixture {
    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Author"><attribute name="born" attributeType="Date" optional="YES"/>
        <attribute name="id" attributeType="UUID" optional="YES"/>
        <attribute name="name" attributeType="String" optional="YES"/>
        <relationship name="books" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify"
        destinationEntity="Book" inverseName="author" inverseEntity="Book"/></entity>
        <entity name="Book"><attribute name="cover" attributeType="Binary" optional="YES"/>
        <attribute name="isNew" attributeType="Boolean" optional="YES"/>
        <attribute name="price" attributeType="Decimal" optional="YES"/>
        <attribute name="rating" attributeType="Float" optional="YES"/>
        <attribute name="scan" attributeType="Binary" optional="YES" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="title" attributeType="String" optional="YES"/>
        <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify"
        destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify"
        destinationEntity="Tag" inverseName="books" inverseEntity="Tag"/></entity>
        <entity name="Comic" parentEntity="Book"><attribute name="volume" attributeType="Integer 16" optional="YES"/>
        </entity>
        <entity name="Tag"><attribute name="label" attributeType="String" optional="YES"/>
        <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify"
        destinationEntity="Book" inverseName="tags" inverseEntity="Book"/></entity></model>
        """

    private static let file = "0A1B2C3D-0000-4000-8000-0123456789AB"

    private static func hexadecimal(_ text: String) -> String {
        text.utf8.map { String($0, radix: 16) }.joined()
    }

    private static let rows = """
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZBORN, ZNAME, ZID) VALUES
        (1, 1, 1, -0.25, 'Ann "A"', x'00112233445566778899AABBCCDDEEFF'), (2, 1, 1, 3600, 'Bob', NULL);
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZISNEW, ZVOLUME, ZAUTHOR, Z_FOK_AUTHOR, ZRATING, ZPRICE, ZTITLE, ZCOVER,
        ZSCAN) VALUES (1, 2, 1, 1, NULL, 1, 3072, 0.10000000149011612, 12.5, 'One', x'0102', x'01FF'),
        (2, 3, 1, 0, 7, 1, 2048, NULL, NULL, 'Two, "2"', NULL, x'02\(hexadecimal(file))00'),
        (3, 2, 1, NULL, NULL, 9, NULL, 3, 4, '', NULL, NULL);
        INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 4, 1, 'x'), (2, 4, 1, NULL);
        INSERT INTO Z_2TAGS (Z_2BOOKS, Z_4TAGS) VALUES (1, 2), (1, 1), (2, 1);
        """

    let folder: WorkFolder
    let store: String
    let uuid: String

    init() throws {
        folder = try WorkFolder()
        let model = folder.path("Library.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: model + "/contents"))
        store = folder.path("Library.sqlite")
        let made = try ToolProcess(["generate", model, store, "--rows", "0", "--seed", "1"])
        try #require(made.status == 0, "\(made.errors)")
        try Connection(path: store, mode: .readWrite, hardening: .own).execute(Self.rows)
        let external = folder.path(".Library_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
        try Data("scan".utf8).write(to: URL(fileURLWithPath: external + "/" + Self.file))
        uuid = try StoreInspection(store: store).uuid
    }

    /// The output `name`, written by `export` with further arguments.
    func export(_ name: String, _ arguments: String...) throws -> ToolProcess {
        try ToolProcess(["export", store, "--output", name == "-" ? name : folder.path(name)] + arguments)
    }

    /// A file's text, with the store's UUID as `U` and the URIs' scheme left out.
    func text(_ name: String) throws -> String {
        short(String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.path(name))), as: UTF8.self))
    }

    func short(_ text: String) -> String {
        text.replacingOccurrences(of: "x-coredata://\(uuid)/", with: "U/")
    }
}
