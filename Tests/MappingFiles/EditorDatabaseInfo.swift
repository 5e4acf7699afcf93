/// The head of an `xcmapping.xml`: what a Core Data XML store states about itself and the model of its objects.
///
/// The model is Xcode's own, so its version hashes can't be computed. They are the same in all 18 files of
/// shared/stores. Without them, Xcode couldn't recognise the objects.
enum EditorDatabaseInfo {
    private static let hashes = [
        ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
        ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
        ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
        ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
        ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
    ]

    /// An identifier is required but has no meaning. A fixed one keeps the output the same for the same input.
    private static let identifier = "00000000-0000-4000-8000-000000000000"

    static func element(nextObjectID: Int) -> String {
        let entries = hashes.map { name, hash in
            """
                                    <key>\(name)</key>
                                    <data>\(hash)</data>
            """
        }.joined(separator: "\n")
        return """
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(identifier)</UUID>
                    <nextObjectID>\(nextObjectID + 1)</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>NSPersistenceFrameworkVersion</key>
                                <integer>1044</integer>
                                <key>NSStoreModelVersionHashes</key>
                                <dict>
            \(entries)
                                </dict>
                                <key>NSStoreModelVersionHashesVersion</key>
                                <integer>3</integer>
                                <key>NSStoreModelVersionIdentifiers</key>
                                <array>
                                    <string></string>
                                </array>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>
            """
    }
}
