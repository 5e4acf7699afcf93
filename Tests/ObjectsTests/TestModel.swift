import CausewayModel
import CausewayStoreFormat

/// A model with every kind of property, written as Xcode writes it.
enum TestModel {
    static func layout() throws -> StoreLayout {
        let model = try ModelReader.model(
            source: Array(
                """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
                """.utf8))
        return try StoreLayout(model: model, frameworkVersion: 1_509)
    }

    private static func relationship(
        _ name: String, _ destination: String, inverse: String? = nil, in entity: String? = nil, toMany: Bool = false,
        ordered: Bool = false, rule: String = "Nullify"
    ) -> String {
        let back = inverse.map { "inverseName=\"\($0)\" inverseEntity=\"\(entity ?? destination)\"" } ?? ""
        return """
            <relationship name="\(name)" optional="YES" \(toMany ? "toMany=\"YES\"" : "maxCount=\"1\"") \
            \(ordered ? "ordered=\"YES\"" : "") deletionRule="\(rule)" destinationEntity="\(destination)" \(back)/>
            """
    }

    private static let entities = """
        <entity name="Item" isAbstract="YES">
            <attribute name="title" attributeType="String" defaultValueString="untitled"/>
            <attribute name="rank" attributeType="Integer 32" defaultValueString="7"/>
            \(relationship("container", "Folder", inverse: "items"))
            \(relationship("pins", "Pin", inverse: "item", toMany: true, rule: "No Action"))
        </entity>
        <entity name="Note" parentEntity="Item">
            <attribute name="body" optional="YES" attributeType="String"/>
            \(relationship("folder", "Folder", inverse: "notes"))
            \(relationship("attachments", "Attachment", toMany: true, rule: "Cascade"))
            \(relationship("extras", "Attachment", toMany: true, ordered: true))
            \(relationship("tags", "Tag", inverse: "notes", toMany: true))
            \(relationship("readers", "Person", inverse: "readNotes", toMany: true, ordered: true))
            \(relationship("editors", "Person", inverse: "editedNotes", toMany: true, ordered: true))
        </entity>
        <entity name="Task" parentEntity="Item">
            <attribute name="done" attributeType="Boolean" defaultValueString="NO"/>
        </entity>
        <entity name="Folder">
            <attribute name="name" optional="YES" attributeType="String"/>
            \(relationship("notes", "Note", inverse: "folder", toMany: true, ordered: true, rule: "Cascade"))
            \(relationship("items", "Item", inverse: "container", toMany: true))
            \(relationship("owner", "Person", inverse: "folders"))
        </entity>
        <entity name="Pin">
            \(relationship("item", "Item", inverse: "pins"))
        </entity>
        <entity name="Attachment">
            <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Tag">
            <attribute name="name" optional="YES" attributeType="String"/>
            \(relationship("notes", "Note", inverse: "tags", toMany: true))
        </entity>
        <entity name="Person">
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="age" optional="YES" attributeType="Integer 16"/>
            \(relationship("passport", "Passport", inverse: "holder"))
            \(relationship("spouse", "Person", inverse: "spouse"))
            \(relationship("folders", "Folder", inverse: "owner", toMany: true, rule: "Deny"))
            \(relationship("readNotes", "Note", inverse: "readers", toMany: true))
            \(relationship("editedNotes", "Note", inverse: "editors", toMany: true, ordered: true))
            \(relationship("friends", "Person", inverse: "friends", toMany: true))
        </entity>
        <entity name="Passport">
            <attribute name="number" optional="YES" attributeType="String"/>
            \(relationship("holder", "Person", inverse: "passport"))
        </entity>
        <entity name="Sample">
            <attribute name="integer16" optional="YES" attributeType="Integer 16"/>
            <attribute name="integer32" optional="YES" attributeType="Integer 32"/>
            <attribute name="integer64" optional="YES" attributeType="Integer 64"/>
            <attribute name="decimal" optional="YES" attributeType="Decimal"/>
            <attribute name="double" optional="YES" attributeType="Double"/>
            <attribute name="float" optional="YES" attributeType="Float"/>
            <attribute name="text" optional="YES" attributeType="String"/>
            <attribute name="flag" optional="YES" attributeType="Boolean"/>
            <attribute name="moment" optional="YES" attributeType="Date"/>
            <attribute name="bytes" optional="YES" attributeType="Binary"/>
            <attribute name="large" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="identifier" optional="YES" attributeType="UUID"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <attribute name="archive" optional="YES" attributeType="Transformable"/>
            <attribute name="fleeting" optional="YES" transient="YES" attributeType="String"/>
            <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
            <attribute name="address" optional="YES" attributeType="Composite" composite="Address"/>
        </entity>
        <composite name="Address">
            <attribute name="street" optional="YES" attributeType="String"/>
            <attribute name="zip" optional="YES" attributeType="Integer 32"/>
        </composite>
        """
}
