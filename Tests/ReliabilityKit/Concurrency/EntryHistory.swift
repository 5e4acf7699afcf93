internal import Causeway
internal import CausewayGenerator
package import CausewayPlatform
internal import CausewaySQLite

/// The store that writers and migrators compete for: one entity, two versions, the second with one column more.
///
/// Small on purpose: a round's time is for the competition, not for rows. Rows carry a marker that is different in
/// every write.
package struct EntryHistory: Sendable {
    package let models: String

    /// Writes the history's models into a folder that exists.
    package init(in folder: String) throws(FileError) {
        models = folder + "/Entries.xcdatamodeld"
        try Files.makeDirectory(models)
        for (version, attributes) in [("v1", Self.marker), ("v2", Self.marker + Self.added)] {
            let model = "\(models)/\(version).xcdatamodel"
            try Files.makeDirectory(model)
            try Files.writeFileDurably(model + "/contents", Array(Self.model(attributes).utf8))
        }
        try Files.writeFileDurably(models + "/.xccurrentversion", Array(Self.current.utf8))
    }

    /// Makes a store of the first version in the given journal mode.
    package func makeStore(at path: String, rows: Int, seed: UInt64, wal: Bool) throws {
        var generation = StoreGeneration(model: models, output: path, rows: rows, seed: seed)
        generation.version = "v1"
        try generation.run()
        let connection = try Connection(path: path, mode: .readWrite, hardening: .own)
        try connection.setJournalMode(wal ? .wal : .delete)
        try connection.close()
    }

    private static let marker = """
                <attribute name="marker" optional="YES" attributeType="String"/>

        """
    private static let added = """
                <attribute name="note" optional="YES" attributeType="String"/>

        """
    private static let current = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>_XCCurrentVersionName</key><string>v2.xcdatamodel</string>
        </dict></plist>
        """

    private static func model(_ attributes: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
            <entity name="Entry" representedClassName="Entry" syncable="YES">
        \(attributes)    </entity>
        </model>
        """
    }
}
