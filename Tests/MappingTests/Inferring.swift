import CausewayMapping
import CausewayModel

func inferred(_ from: String, _ to: String, step: Int = 0) throws -> MappingModel {
    try MappingInference.infer(
        from: try ModelReader.model(source: Array(from.utf8)), to: try ModelReader.model(source: Array(to.utf8)),
        step: step)
}

/// The reasons against the mapping; empty where it is inferred.
func refusals(_ from: String, _ to: String) throws -> [InferenceError.Refusal] {
    do {
        _ = try inferred(from, to)
        return []
    } catch let error as InferenceError {
        return error.refusals
    }
}

/// A model with one entity, `Thing`.
func thing(_ properties: String...) -> String { model(entity("Thing", properties.joined())) }

extension MappingModel {
    /// Where the value of `Thing`'s attribute comes from.
    func value(_ attribute: String, of entity: String = "Thing") -> AttributeMapping.Value? {
        mapping(to: entity)?.attribute(attribute)?.value
    }

    func links(_ relationship: String, of entity: String) -> LinkSource? {
        mapping(to: entity)?.relationship(relationship)?.links
    }
}
