import CausewayModel
import CausewayStoreFormat
import Testing

/// Layouts of real models against an independent generator (shared/tools/expected-schema).
@Suite(
    .timeLimit(.minutes(60)), .enabled(if: SharedStores.areThere, "shared/stores is missing"),
    .enabled(if: SharedStores.hasOracle, "python3 or shared/tools/expected-schema is missing"))
struct RealModelsTests {
    /// One framework version of each era and of each difference inside an era.
    private static let versions = [519, 641, 754, 851, 866, 977, 1044, 1145, 1344, 1509]
    /// Models that are checked in every era: derived attributes, clashes, hierarchies, history, order keys.
    private static let thorough = ["coredataplus", "carekit", "2.101", "1.27", "Moody 6"]

    private static let questions: [(kind: String, name: String, version: Int)] = {
        var result: [(kind: String, name: String, version: Int)] = []
        let models = SharedStores.sources.map { ("xml", $0) } + SharedStores.compiled.map { ("mom", $0) }
        for (place, (kind, name)) in models.enumerated() {
            let isThorough = thorough.contains { name.contains($0) }
            let some = [versions[place % versions.count], versions[(place * 3 + 5) % versions.count]]
            for version in isThorough ? versions : Array(Set(some)).sorted() { result.append((kind, name, version)) }
        }
        return result
    }()

    private static func model(_ kind: String, _ name: String) throws -> ManagedObjectModel {
        let bytes = try SharedStores.bytes(name)
        guard kind == "xml" else { return try ModelReader.model(compiled: bytes) }
        var model = try ModelReader.model(source: bytes)
        // Compilers differ in the old compound indexes that they make from a source; compiled models have them.
        for name in model.entities.keys { model.entities[name]?.compoundIndexes = [] }
        return model
    }

    @Test("statements, house tables, history and numbering equal those of the independent generator")
    func statements() throws {
        let answers = try Oracle.answers(Self.questions)
        #expect(answers.count == Self.questions.count)
        var models: [String: ManagedObjectModel] = [:]
        for (question, answer) in zip(Self.questions, answers) {
            let model: ManagedObjectModel
            if let known = models[question.name] {
                model = known
            } else {
                model = try Self.model(question.kind, question.name)
                models[question.name] = model
            }
            let layout = try StoreLayout(model: model, frameworkVersion: question.version)
            let place = "\(question.name) at \(question.version)"
            let statements = try layout.statements()
            let difference = zip(statements.modelStatements.map(\.sql), answer.statements).first { $0 != $1 }
            #expect(difference == nil, "\(place)")
            #expect(statements.modelStatements.count == answer.statements.count, "\(place)")
            #expect(statements.houseStatements.map(\.sql) == answer.house, "\(place)")
            #expect(statements.historyStatements.map(\.sql) == answer.history, "\(place)")
            #expect(
                layout.primaryKeyRows.map { [String($0.number), $0.name, String($0.parent)] } == answer.primaryKeys,
                "\(place)")
            #expect(statements.unsupported.isEmpty, "\(place)")
        }
    }
}
