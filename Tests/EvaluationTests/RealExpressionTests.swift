import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import Foundation
import Testing

/// Every expression in expressions.txt, on one entity that has all the properties that occur.
@Suite(
    "Expressions of real apps", .timeLimit(.minutes(60)), .enabled(if: SharedStores.exist, "shared/stores is missing"))
struct RealExpressionTests {
    private static let attributes: [AttributeType: String] = [
        .string: """
        cryptoType publicKey username desc blogName blogTagline name color companyName contents groupIdentifier
        originalContents path sourceURL thumbImageURL urlString bundleIdentifier icon title serverId avatarStatic
        messageId sourceId id mangaId authorAlias alias comment mpHashHex postType replyID mdID
        syndicationIdentifier meta4URL code
        """,
        .uri: "givenURL resolvedURL url",
        .date: """
        companyDateFounded lastArchiveSync refreshedDate importDate timestamp timeStamp createdAt
        """,
        .binary: "content image data embedding thumbnails previews",
        .boolean: """
        isEmoji isTapback admin isLocal isNoPic isFavored isSilenced isWpcom completed unread isBookmarked
        isMagicCarpet favorite manual hasAdjustments
        """,
        .double: "companyProfits centerX bodyCenterX duration timeBudget",
        .integer64: """
        totalBytesWritten type numericISO3166Code favoredCount modificationCounter numberOfFlagella numberOfFlippers
        numberOfLimbs schemaVersion status messageID num portNum index channel downloadStateRaw wordCount
        searchIndexRebuildState state blacklistedFeature kindSubtype playbackStyle derivedCameraCaptureDevice
        cloudLocalState depthType highlightBeingExtendedAssets monthHighlightBeingFirstAsset graphMemoryIdentifier
        packedBadgeAttributes dataStoreClassID remoteAvailability localAvailability libraryScopeShareState
        activeLibraryScopeParticipationState dataStoreSubtype thumbnailIndex duplicateAssetVisibilityState
        importSession spatialType resourceType faceCrop captureSessionIdentifier density label partition
        albumAssociativity libraryScope monoskiType parentThreadMessageid pendingPlayCount pendingShareCount
        pendingViewCount cameraCaptureDevice
        """,
    ]
    private static let toOnes = """
        downloadTask continent game team owner conversation country topicList fromUser toUser history book
        additionalAttributes primaryLabel chat lastMessage otherAccount
        """
    private static let toManys = "cars countries moods ads chapters messages pages"

    private static func words(_ text: String) -> [String] { text.split { $0 == " " || $0 == "\n" }.map(String.init) }

    private static let schema: ModelSchema = {
        var thing = Entity(name: "Thing")
        for (type, names) in attributes {
            thing.attributes += words(names).map { Attribute(name: $0, type: type) }
        }
        thing.relationships =
            words(toOnes).map { Garage.toOne($0, "Thing") } + words(toManys).map { Garage.toMany($0, "Thing") }
        return ModelSchema(ManagedObjectModel(entities: [thing]))
    }()

    /// A row that has every value and is related to itself, and one that has none.
    private static func rows() -> (TestGraph, full: ObjectID, empty: ObjectID) {
        let graph = TestGraph(schema)
        let full = graph.insert("Thing", 1)
        let values: [AttributeType: Value] = [
            .string: "text", .uri: .uri("https://example.com/a"), .date: .date(5), .binary: .data([1, 2]),
            .boolean: true, .double: 1.5, .integer64: 7,
        ]
        for (type, names) in attributes {
            for name in words(names) { graph.set(name, of: full, to: values[type] ?? .null) }
        }
        for name in words(toOnes) { graph.set(name, of: full, to: .object(full)) }
        for name in words(toManys) { graph.set(name, of: full, to: .collection([.object(full)])) }
        return (graph, full, graph.insert("Thing", 2))
    }

    private static func lines(of wanted: [String]) throws -> [String] {
        let file = try String(contentsOf: SharedStores.folder.appending(path: "expressions.txt"), encoding: .utf8)
        var (section, texts): (String, [String]) = ("", [])
        for line in file.split(separator: "\n") {
            if line.hasPrefix("## ") {
                section = line.dropFirst(3).prefix { $0 != "." && $0 != " " }.description
            } else if wanted.contains(section), let match = line.wholeMatch(of: /\s*\d+  (.*)/) {
                texts.append(String(match.1))
            }
        }
        return texts
    }

    private static var compiler: ExpressionCompiler {
        let thing = VariableType.object(schema, entity: "Thing")
        return ExpressionCompiler(
            evaluated: thing,
            variables: [
                "source": thing, "destination": thing, "manager": .manager, "entityPolicy": .entityPolicy,
                "FETCH_SOURCE": .any, "FETCHED_PROPERTY": .any, "query": .any, "mpHashHex": .any,
            ],
            functions: TestCatalog(policy: [
                "bookCategoryWithUrlString:", "bookStateRawWithBook:", "bookState:", "migrateIconURL",
                "migrateSaveStateType:", "migrateScreenshotURLs", "path:", "defaultCoreIdentifierForGameType:",
                "defaultIsActiveForBundleID:team:", "iconURLToString:", "migrateIdentifier", "negateBool:",
            ]))
    }

    private static func evaluate(_ run: (EvaluationScope) throws -> Void) throws {
        let (graph, full, empty) = rows()
        for object in [full, empty] {
            let scope = EvaluationScope(now: 0, sourceGraph: graph, functions: TestFunctions())
            (scope.evaluated, scope.source) = (.object(object), .object(object))
            scope.bindings = [
                "FETCH_SOURCE": .object(full), "FETCHED_PROPERTY.userInfo.search": "t", "query": "te",
                "mpHashHex": "text",
            ]
            try run(scope)
        }
    }

    @Test("every value expression compiles and evaluates", arguments: ["1", "2", "3", "4", "9a", "9b", "10b"])
    func expressions(section: String) throws {
        let texts = try Self.lines(of: [section])
        #expect(!texts.isEmpty)
        for line in texts {
            var text = line.replacing("<attr>", with: "name").replacing("<rel>", with: "cars")
                .replacing("<mapping>", with: "M")
            // The list's own remarks.
            if let remark = text.firstRange(of: #/\ {3}[\[(]/#) { text = String(text[..<remark.lowerBound]) }
            if let match = text.wholeMatch(of: /(.*)  via mapping (.*)/) {
                text =
                    "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                    + "'\(match.2)', \(match.1))"
            }
            let compiled = try Self.compiler.compile(Expression(parsing: text))
            try Self.evaluate { _ = try compiled.evaluate($0) }
        }
    }

    @Test("every predicate compiles and evaluates", arguments: ["5", "11a", "11b", "12a", "12b"])
    func predicates(section: String) throws {
        let texts = try Self.lines(of: [section])
        #expect(!texts.isEmpty)
        for line in texts {
            // The list prints date literals that way; the archives contain dates.
            let text = line.replacing(/date\((.*?)\)/) { "CAST(\($0.1), 'NSDate')" }
            let compiled = try Self.compiler.compile(Predicate(parsing: text))
            try Self.evaluate { _ = try compiled.evaluate($0) }
        }
    }

    @Test("some values")
    func values() throws {
        let (graph, full, _) = Self.rows()
        let scope = EvaluationScope(now: 0, sourceGraph: graph, functions: TestFunctions())
        (scope.evaluated, scope.source) = (.object(full), .object(full))
        func value(_ text: String) throws -> Value {
            try Self.compiler.compile(Expression(parsing: text)).evaluate(scope)
        }
        #expect(try value("$source.url.absoluteString") == "https://example.com/a")
        #expect(try value("$source.objectID.URIRepresentation.path") == "/Thing/p1")
        #expect(try value("FUNCTION(nil, \"multiply:by:\", $source.content.length, 0.2)") == 0.4)
        #expect(try value("$source.countries.@distinctUnionOfSets.moods") == .collection([.object(full)]))
    }
}
