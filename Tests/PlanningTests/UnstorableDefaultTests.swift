import CausewayExpressions
import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayStoreFormat
import Testing

/// A default that can't be written stops only the steps that would write it.
@Suite("Defaults without a stored form", .timeLimit(.minutes(60)))
struct UnstorableDefaultTests {
    private let text = Constant.string("1/2/03")

    private func model(_ attributes: Attribute...) -> ManagedObjectModel {
        var entity = Entity(name: "Cage")
        entity.attributes = attributes
        return ManagedObjectModel(entities: [entity])
    }

    private func date(_ name: String, optional: Bool = true, was: String? = nil) -> Attribute {
        var attribute = Attribute(name: name, type: .date)
        attribute.isOptional = optional
        attribute.renamingIdentifier = was
        attribute.defaultValue = text
        return attribute
    }

    private func passes(_ path: ManagedObjectModel...) throws -> [RowPass] {
        var steps: [InferredStep] = []
        for (source, destination) in zip(path, path.dropFirst()) {
            let mapping = MappingInference.closest(from: source, to: destination)
            steps.append(InferredStep(mapping: mapping, source: source, destination: destination))
        }
        let mapping = try steps.dropFirst().reduce(#require(steps.first).mapping) {
            try #require($0.composed(with: $1.mapping))
        }
        return try TransferPlanner(
            mapping: mapping, source: StoreLayout(model: path[0], frameworkVersion: 1344),
            destination: StoreLayout(model: path[path.count - 1], frameworkVersion: 1344), steps: steps,
            versions: ["Zoo 2", "Zoo 3"]
        ).passes()
    }

    @Test("a date's text that no row needs stops nothing")
    func unneeded() throws {
        _ = try passes(model(date("built")), model(date("built"), Attribute(name: "n", type: .double)))
    }

    @Test("a new attribute, and one that becomes mandatory, need it: version, entity, attribute and key are named")
    func needed() throws {
        let message = """
            in “Zoo 2”, the default of Cage.built (XD_PAttK_defaultValueAsString) is the text “1/2/03”, a date in the \
            language of the person who saved the model, which can't be read; fill the attribute with a mapping model, or \
            save the version once with a newer Xcode, which leaves its hashes as they are
            """
        let plain = model()
        let added = #expect(throws: PlanError.self) { try passes(plain, model(date("built"))) }
        #expect(added?.description == message)
        let tightened = #expect(throws: PlanError.self) {
            try passes(model(date("built")), model(date("built", optional: false)))
        }
        #expect(tightened?.description == message)
        let renamed = #expect(throws: PlanError.self) {
            try passes(plain, model(date("built")), model(date("made", was: "built")))
        }
        #expect(renamed?.description == message)
    }
}
