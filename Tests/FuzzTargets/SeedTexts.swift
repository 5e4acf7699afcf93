/// Small texts with which fuzzing starts: one for each form of the grammar.
enum SeedTexts {
    static let models = [
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" minimumToolsVersion="Automatic" \
        sourceLanguage="Swift" userDefinedModelVersionIdentifier="one">
            <entity name="Note" representedClassName="Note" syncable="YES">
                <attribute name="text" optional="YES" attributeType="String"/>
                <attribute name="size" attributeType="Integer 32" defaultValueString="1" usesScalarValueType="YES"/>
                <relationship name="folder" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Folder" inverseName="notes" inverseEntity="Folder"/>
            </entity>
            <entity name="Folder" representedClassName="Folder" syncable="YES">
                <relationship name="notes" optional="YES" toMany="YES" deletionRule="Cascade" \
        destinationEntity="Note" inverseName="folder" inverseEntity="Note"/>
            </entity>
        </model>
        """,
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
        userDefinedModelVersionIdentifier="">
            <entity name="Base" isAbstract="YES" elementID="OldBase" versionHashModifier="2">
                <attribute name="day" attributeType="Date" defaultDateTimeInterval="0"/>
                <attribute name="tags" optional="YES" attributeType="Transformable" \
        valueTransformerName="NSSecureUnarchiveFromData"/>
                <attribute name="file" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            </entity>
            <entity name="Leaf" parentEntity="Base">
                <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="1.5"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" \
        derivationExpression="others.@count"/>
                <relationship name="others" optional="YES" toMany="YES" ordered="YES" deletionRule="Nullify" \
        destinationEntity="Leaf" inverseName="others" inverseEntity="Leaf"/>
                <fetchIndex name="byPrice"><fetchIndexElement property="price" type="Binary" order="descending"/>
                </fetchIndex>
                <uniquenessConstraints><uniquenessConstraint><constraint value="price"/></uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo><entry key="k" value="v &amp; w"/></userInfo>
            </entity>
            <configuration name="Some"><memberEntity name="Leaf"/></configuration>
        </model>
        """,
        """
        <?xml version="1.0"?>
        <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="A_&quot;b&#x27;;--"/></model>
        """,
    ]

    static let mappings = [
        """
        <?xml version="1.0"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
        <database><databaseInfo><version>134481920</version><UUID>01234567-89AB-CDEF-0123-456789ABCDEF</UUID>
        <nextObjectID>105</nextObjectID><metadata><plist version="1.0"><dict/></plist></metadata></databaseInfo>
        </database>
        """
    ]

    static let records = [
        "{\"format\":1}", "{}",
        "{\"format\":\"causeway plan 1\",\"steps\":[{\"versions\":[\"v1\",\"v2\"],\"rows\":12}]}",
        "{\"a\":null,\"b\":[true,false],\"c\":-1.5e-3,\"d\":9223372036854775807,\"e\":\"\\u00e9\\ud83d\\ude00\\n\"}",
        "{\"format\":2,\"entities\":{\"Note\":{\"count\":5,\"digest\":\"00ff\"}},\"source\":{\"size\":8192}}",
    ]

    static let expressions = [
        "SELF", "nil", "YES", "12", "-1.5e3", "0x1F", "'te\\'xt'", "\"a\\u00e9\"", "$x", "a.b.@count", "$source.a[0]",
        "a[FIRST]", "a[SIZE]", "now()", "count:(a)", "a + b * 2 ** 3 - -c / (d)", "FUNCTION($m, 'x:y:', 1, a)",
        "{1, a, 'b'}", "SUBQUERY(a, $x, $x.b = 1 AND $x.c LIKE[cd] 'd*')", "FETCH($r, $c, YES)", "a UNION b MINUS c",
        "TERNARY(a = 1, b, c)", "CAST(12.5, 'NSDate')", "CAST('00ff', 'NSData')", "CAST(a, \"NSNumber\")",
        "CAST('-12.50', 'NSDecimalNumber')", "#size", "a := b", "NaN", "((((((1))))))",
    ]

    static let predicates = [
        "TRUEPREDICATE", "FALSEPREDICATE", "a == 1", "NOT a != b OR c < 2 AND d >= 3", "a BETWEEN {1, 2}",
        "name BEGINSWITH[cdn] 'x'", "ANY a.b CONTAINS[l] $c", "ALL a IN b", "NONE a MATCHES '.*'", "SOME a ENDSWITH ''",
        "a TOKENMATCHES 'x'", "!(a = nil)", "a = b && c <> d || e =< f", "FUNCTION(a, 'f:') = 1", "a.@max.b > now()",
    ]
}
