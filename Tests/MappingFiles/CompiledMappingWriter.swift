package import CausewayMapping
import CausewayExpressions
import CausewayPlist

extension MappingModelDescription {
    /// The bytes of a `.cdm`, as Xcode's compiler writes one: what `NSMappingModel(contentsOf:)` reads.
    ///
    /// Throws `unresolved` for what is still left to defaults (write `ResolvedMapping.compiled()`), `unsupported` for a
    /// value that can't be archived (a foreign object in a user info).
    package func compiledBytes() throws(MappingFileError) -> [UInt8] {
        var writer = CompiledMappingWriter()
        return try writer.bytes(of: self)
    }
}

/// Writes the classes and keys that V2toV3.cdm has.
private struct CompiledMappingWriter {
    typealias Reference = KeyedArchiveWriter.Reference

    private static let modelClass = ArchivedClass(["NSMappingModel", "NSObject"])
    private static let entityClass = ArchivedClass(["NSEntityMapping", "NSObject"])
    private static let propertyClass = ArchivedClass(["NSPropertyMapping", "NSObject"])

    private var archive = KeyedArchiveWriter()

    mutating func bytes(of description: MappingModelDescription) throws(MappingFileError) -> [UInt8] {
        var mappings: [Reference] = []
        var byName: [(key: Reference, value: Reference)] = []
        for mapping in description.entityMappings {
            do throws(MappingFileError) {
                let reference = try entityMapping(mapping)
                mappings.append(reference)
                byName.append((archive.string(mapping.name), reference))
            } catch {
                throw error.at(path: description.path, mapping: mapping.name)
            }
        }
        let list = archive.array(mappings)
        let names = archive.mutableDictionary(byName)
        let root = archive.add(
            Self.modelClass, [("NSEntityMappings", .reference(list)), ("NSEntityMappingsByName", .reference(names))])
        do { return try archive.bytes(root: root) } catch { throw MappingFileError(error) }
    }

    private mutating func entityMapping(_ mapping: EntityMappingDescription) throws(MappingFileError) -> Reference {
        guard mapping.filter == nil, !mapping.fillsUnmentioned else {
            throw MappingFileError(
                .unresolved, "A .cdm can't hold a filter text or “fill the rest”; resolve the mapping model first.")
        }
        let attributes = try propertyMappings(mapping.attributeMappings)
        let relationships = try propertyMappings(mapping.relationshipMappings)
        return archive.add(
            Self.entityClass,
            [
                ("NSMappingName", text(mapping.name)),
                ("NSMappingType", .integer(Int64(mapping.kind.rawValue))),
                ("NSSourceEntityName", text(mapping.sourceEntity)),
                ("NSSourceEntityVersionHash", data(mapping.sourceHash)),
                ("NSDestinationEntityName", text(mapping.destinationEntity)),
                ("NSDestinationEntityVersionHash", data(mapping.destinationHash)),
                ("NSSourceExpression", try expression(mapping.sourceExpression)),
                ("NSEntityMigrationPolicyClassName", text(mapping.policyClassName)),
                ("NSUserInfo", try userInfo(mapping.userInfo)),
                ("NSAttributeMappings", .reference(attributes)),
                ("NSRelationshipMappings", .reference(relationships)),
            ])
    }

    private mutating func propertyMappings(
        _ mappings: [PropertyMappingDescription]
    ) throws(MappingFileError) -> Reference {
        var references: [Reference] = []
        for mapping in mappings {
            do throws(MappingFileError) {
                guard mapping.origin == nil else {
                    throw MappingFileError(
                        .unresolved, "A .cdm holds expressions, no defaults; resolve the mapping model first.")
                }
                references.append(
                    archive.add(
                        Self.propertyClass,
                        [
                            ("NSDestinationPropertyName", text(mapping.name)),
                            ("NSValueExpression", try expression(mapping.expression)),
                            ("NSPropertyTransforms", .null),
                            ("NSUserInfo", try userInfo(mapping.userInfo)),
                        ]))
            } catch {
                throw error.at(property: mapping.name)
            }
        }
        return archive.array(references)
    }

    // MARK: - Fields

    private mutating func text(_ text: String?) -> KeyedArchiveWriter.Field {
        text.map { .reference(archive.string($0)) } ?? .null
    }

    private mutating func data(_ bytes: [UInt8]?) -> KeyedArchiveWriter.Field {
        bytes.map { .reference(archive.data($0)) } ?? .null
    }

    private mutating func expression(
        _ expression: Expression?
    ) throws(MappingFileError) -> KeyedArchiveWriter.Field {
        guard let expression else { return .null }
        do { return .reference(try expression.archive(into: &archive)) } catch {
            throw MappingFileError(writing: error)
        }
    }

    private mutating func userInfo(
        _ userInfo: [String: Constant]
    ) throws(MappingFileError) -> KeyedArchiveWriter.Field {
        guard !userInfo.isEmpty else { return .null }
        return .reference(try archive.userInfo(userInfo))
    }
}

extension KeyedArchiveWriter {
    /// A dictionary object, sorted by key.
    mutating func userInfo(_ userInfo: [String: Constant]) throws(MappingFileError) -> Reference {
        let entries = userInfo.sorted { $0.key < $1.key }
            .map { Constant.DictionaryEntry(key: $0.key, value: $0.value) }
        do { return try Constant.dictionary(entries).archive(into: &self) } catch {
            throw MappingFileError(writing: error)
        }
    }
}

extension MappingFileError {
    init(writing error: ExpressionArchiveError) {
        self.init(.unsupported, "The value can't be archived: \(error)")
    }
}
