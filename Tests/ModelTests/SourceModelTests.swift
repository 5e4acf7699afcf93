import CausewayExpressions
import CausewayModel
import Testing

/// Model source with that content.
func source(_ content: String, identifier: String? = nil) -> [UInt8] {
    let attribute = identifier.map { " userDefinedModelVersionIdentifier=\"\($0)\"" } ?? ""
    return Array("<?xml version=\"1.0\"?>\n<model\(attribute)>\n\(content)\n</model>".utf8)
}

@Suite("Model source", .timeLimit(.minutes(60)))
struct SourceModelTests {
    private func read(_ content: String) throws -> ManagedObjectModel {
        try ModelReader.model(source: source(content))
    }

    private func attribute(_ attributes: String) throws -> Attribute {
        let model = try read("<entity name='E'><attribute name='a' \(attributes)/></entity>")
        return try #require(model.entities["E"]?.attributes.first)
    }

    @Test(
        "default values have the attribute's type",
        arguments: [
            ("Integer 16", "5", Constant.integer(5)), ("Integer 64", "-7", .integer(-7)),
            ("Integer 32", "0.0", .integer(0)), ("Integer 32", "NO", .integer(0)), ("Double", "0", .real(0)),
            ("Float", "1.5", .real(1.5)),
            ("Boolean", "YES", .boolean(true)), ("Boolean", "NO", .boolean(false)),
            ("Decimal", "010.50", .decimal("10.5")), ("Decimal", "-2e3", .decimal("-2000")),
            ("Decimal", "0.00", .decimal("0")), ("Decimal", " 0.0 ", .decimal("0")),
            ("Decimal", "0,00", .decimal("0")),
            ("Decimal", "-.5 EUR", .decimal("-0.5")), ("Decimal", "7.e", .decimal("7")),
            ("Decimal", "2E+2", .decimal("200")),
            (
                "Decimal", "1234567890123456789012345678901234567890123.5",
                .decimal("1234567890123456789012345678901234567890000")
            ),
            ("String", "", .string("")), ("URI", "http://x", .uri("http://x")),
            (
                "UUID", "12345678-1234-1234-1234-1234567890AB",
                .uuid([0x12, 0x34, 0x56, 0x78, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x56, 0x78, 0x90, 0xAB])
            ),
        ])
    func defaults(type: String, text: String, expected: Constant) throws {
        #expect(try attribute("attributeType='\(type)' defaultValueString='\(text)'").defaultValue == expected)
    }

    @Test(
        "a text that the editor left behind is no default and no bound",
        arguments: [
            ("UUID", "0"), ("UUID", "junk"), ("UUID", ""), ("Decimal", "NO"), ("Decimal", ""), ("Decimal", "."),
            ("Decimal", "e5"), ("Decimal", "1e400"),
        ])
    func leftovers(type: String, text: String) throws {
        let read = try attribute("attributeType='\(type)' defaultValueString='\(text)' minValueString='\(text)'")
        #expect(read.defaultValue == nil)
        #expect(read.validations.isEmpty)
    }

    @Test("a decimal bound is the text's beginning")
    func decimalBound() throws {
        let validation = try #require(try attribute("attributeType='Decimal' minValueString='0,50'").validations.first)
        #expect(validation == (try attribute("attributeType='Decimal' minValueString='0'").validations.first))
    }

    @Test("a configuration's member without an entity is passed over")
    func unknownMembers() throws {
        let model = try read(
            "<entity name='B'/><configuration name='K'><memberEntity name='Z'/><memberEntity name='B'/></configuration>"
        )
        #expect(model.configurations == ["K": ["B"]])
        #expect(try ModelReader.model(cache: ModelCacheWriter.cache(of: model)) == model)
    }

    @Test("a decimal default with more digits than 128 bits hold is archived")
    func largeDecimal() throws {
        let model = try read(
            "<entity name='E'><attribute name='a' attributeType='Decimal' defaultValueString='-12e40'/></entity>")
        let zeros = String(repeating: "0", count: 40)
        #expect(model.entities["E"]?.attributes.first?.defaultValue == .decimal("-12\(zeros)"))
        #expect(try ModelReader.model(cache: ModelCacheWriter.cache(of: model)) == model)
    }

    @Test("marks of a merge conflict are named")
    func mergeConflict() throws {
        let text = "<model>\n<<<<<<< HEAD\n<entity name='A'/>\n=======\n<entity name='B'/>\n>>>>>>> b\n</model>"
        let error = try #require(throws: ModelError.self) { try ModelReader.model(source: Array(text.utf8)) }
        #expect(error.message.contains("merge conflict"))
        #expect(error.message.contains("line 2"))
    }

    @Test("a date's default is its time interval")
    func dateDefault() throws {
        #expect(
            try attribute("attributeType='Date' defaultDateTimeInterval='646585800'").defaultValue == .date(646_585_800)
        )
    }

    @Test(
        "bounds and patterns become validation predicates",
        arguments: [
            ("attributeType='Integer 16' minValueString='0'", "SELF >= 0", Int64(1620)),
            ("attributeType='Double' maxValueString='2.5'", "SELF <= 2.5", 1610),
            ("attributeType='String' minValueString='3'", "length >= 3", 1670),
            ("attributeType='String' maxValueString='50'", "length <= 50", 1660),
            ("attributeType='String' regularExpressionString='a.*'", "SELF MATCHES \"a.*\"", 1680),
            ("attributeType='Date' minDateTimeInterval='5'", "SELF >= CAST(5.000000, \"NSDate\")", 1640),
            ("attributeType='Date' maxDateTimeInterval='5'", "SELF <= CAST(5.000000, \"NSDate\")", 1630),
        ])
    func validations(text: String, format: String, code: Int64) throws {
        let validation = try #require(try attribute(text).validations.first)
        #expect(validation.predicate.predicateFormat == format)
        #expect(validation.warning == .integer(code))
    }

    @Test("a single ascending element indexes its attribute under the attribute's name too")
    func implicitIndexes() throws {
        let model = try read(
            """
            <entity name='E'>
              <attribute name='z' attributeType='String' indexed='YES'/><attribute name='u' attributeType='String'/>
              <attribute name='v' attributeType='String'/>
              <relationship name='r' maxCount='1' destinationEntity='E' deletionRule='Nullify'/>
              <fetchIndex name='byU'><fetchIndexElement property='u' type='Binary' order='ascending'/></fetchIndex>
              <fetchIndex name='byV'><fetchIndexElement property='v' type='Binary' order='descending'/></fetchIndex>
              <fetchIndex name='two' partialIndexPredicate='u != nil'>
                <fetchIndexElement property='u' type='Binary' order='ascending'/>
                <fetchIndexElement expression='self' expressionType='Object ID' type='Binary' order='descending'/>
              </fetchIndex>
              <fetchIndex name='withRelationship'>
                <fetchIndexElement property='r' type='Binary' order='ascending'/>
                <fetchIndexElement property='u' type='Binary' order='ascending'/>
              </fetchIndex>
              <compoundIndexes><compoundIndex><index value='v'/><index value='u'/></compoundIndex></compoundIndexes>
            </entity>
            """)
        let entity = try #require(model.entities["E"])
        #expect(entity.fetchIndexes.map(\.name) == ["u", "v_u", "z", "byU", "byV", "two", "withRelationship"])
        #expect(entity.attributes.filter(\.isIndexed).map(\.name) == ["u", "z"])
        #expect(entity.compoundIndexes == [["v", "u"], ["u", "self"]])
        let two = try #require(entity.fetchIndexes.first { $0.name == "two" })
        #expect(two.partialPredicate?.predicateFormat == "u != nil")
        #expect(two.elements.last == .init(.expression(name: "expression1", .evaluatedObject), isAscending: false))
    }

    @Test("derived, composite, fetched, configured: the rarer parts are read")
    func rareParts() throws {
        let model = try read(
            """
            <entity name='A' representedClassName='AClass' isAbstract='YES' elementID='Old' versionHashModifier='m'>
              <attribute name='n' optional='YES' attributeType='Integer 64' derived='YES' derivationExpression='bs.@count'/>
              <attribute name='place' attributeType='Composite' composite='Place'/>
              <attribute name='t' attributeType='Transformable' valueTransformerName='T' customClassName='C'/>
              <attribute name='x' attributeType='Binary' allowsExternalBinaryDataStorage='YES' preserveAfterDeletion='YES'
                allowsCloudEncryption='YES' spotlightIndexingEnabled='YES'/>
              <relationship name='bs' toMany='YES' ordered='YES' minCount='1' deletionRule='Deny' destinationEntity='B'
                inverseName='a' inverseEntity='B'/>
              <fetchedProperty name='f' optional='YES'>
                <fetchRequest name='fetchedPropertyFetchRequest' entity='B' predicateString='a = $FETCH_SOURCE'/>
              </fetchedProperty>
              <userInfo><entry key='k' value='v'/></userInfo>
              <uniquenessConstraints><uniquenessConstraint><constraint value='t'/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name='B' representedClassName=''>
              <relationship name='a' optional='YES' maxCount='1' deletionRule='Cascade' destinationEntity='A'
                inverseName='bs' inverseEntity='A'/>
            </entity>
            <composite name='Place'>
              <attribute name='y' attributeType='Double'/>
              <attribute name='name' attributeType='Composite' composite='Name'/>
            </composite>
            <composite name='Name'><attribute name='first' attributeType='String'/></composite>
            <configuration name='Half'><memberEntity name='B'/></configuration>
            <elements><element name='A' positionX='1'/></elements>
            <somethingNew/>
            """)
        let a = try #require(model.entities["A"])
        #expect(a.renamingIdentifier == "Old")
        #expect(a.versionHashModifier == "m")
        #expect(a.isAbstract)
        #expect(a.userInfo == ["k": .string("v")])
        let derived = try #require(a.attributes.first { $0.name == "n" }?.derivation)
        #expect(derived.expression == .function(operand: nil, name: "count:", arguments: [.key("bs")]))
        let place = try #require(a.attributes.first { $0.name == "place" })
        #expect(place.elements.map(\.name) == ["y", "name"])
        #expect(place.elements.last?.elements.map(\.name) == ["first"])
        let data = try #require(a.attributes.first { $0.name == "x" })
        #expect(data.allowsExternalBinaryDataStorage && data.preservesValueInHistoryOnDeletion)
        #expect(data.allowsCloudEncryption && data.isIndexedBySpotlight)
        #expect(a.attributes.first { $0.name == "t" }?.valueClassName == "C")
        #expect(a.relationships.first?.deleteRule == .deny)
        #expect(a.relationships.first?.isToMany == true)
        #expect(a.relationships.first?.inverseEntity == nil)
        #expect(a.fetchedProperties.first?.predicate?.predicateFormat == "a == $FETCH_SOURCE")
        #expect(model.entities["B"]?.managedObjectClassName == nil)
        #expect(model.configurations == ["Half": ["B"]])
        #expect(model.versionIdentifiers == [""])
        #expect(try ModelReader.model(cache: ModelCacheWriter.cache(of: model)) == model)
    }

    @Test("all contradictions are reported at once, with entity, property and line")
    func contradictions() throws {
        let content = """
            <entity name='A' parentEntity='Missing'><attribute name='a' attributeType='Complex'/></entity>
            <entity name='B' parentEntity='C'/>
            <entity name='C' parentEntity='B'/>
            <entity name='D'>
              <attribute name='x' attributeType='Decimal'/>
              <attribute name='x' attributeType='String'/>
              <relationship name='r' destinationEntity='Nowhere' deletionRule='Nullify'/>
              <relationship name='s' destinationEntity='D' inverseName='nothing' inverseEntity='D' deletionRule='Maybe'/>
              <relationship name='t'/>
              <uniquenessConstraints><uniquenessConstraint><constraint value='q'/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name='D'/>
            <entity name='E' parentEntity='D'><attribute name='x' attributeType='String'/></entity>
            <entity name='F'><attribute name='c' attributeType='Composite' composite='Loop'/></entity>
            <composite name='Loop'><attribute name='l' attributeType='Composite' composite='Loop'/></composite>
            <configuration/>
            """
        let error = try #require(throws: ModelError.self) { try ModelReader.model(source: source(content), path: "M") }
        #expect(error.code == .inconsistent)
        #expect(error.path == "M")
        let places = error.problems.map { "\($0.entity ?? "")/\($0.property ?? "")/\($0.line ?? 0)" }
        for place in [
            "A/a/3", "A//3", "B//4", "C//5", "D/x/8", "D/r/9", "D/s/10", "D/t/11", "D//6", "D//14", "E/x/15", "F/l/17",
            "//18",
        ] {
            #expect(places.contains(place), "\(place) in \(places)")
        }
        #expect(error.description.contains("line 9, D.r: The destination entity “Nowhere” is not in the model."))
    }

    @Test(
        "what isn't a data model is refused",
        arguments: [
            ("", ModelError.Code.damaged), ("<model>", .damaged), ("<database/>", .notAModel),
            ("<!DOCTYPE m [<!ENTITY a 'b'>]><model/>", .damaged),
        ])
    func refusals(text: String, code: ModelError.Code) throws {
        let error = try #require(throws: ModelError.self) { try ModelReader.model(source: Array(text.utf8)) }
        #expect(error.code == code)
    }
}
