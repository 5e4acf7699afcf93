/// Whether a mapping model is for the step between two versions.
package enum MappingMatch: Hashable, Sendable {
    case fits
    /// Sentences for “mapping model X exists but doesn't match: …”.
    case differs([String])
}

extension MappingModelDescription {
    /// Compares the mapping model with two versions.
    ///
    /// A compiled one fits when every entity it names has the hash it was compiled for. One of Xcode's editor or of
    /// Swift has no hashes: it fits when all entities and properties that it names exist. Where an `.xcmappingmodel`
    /// records the model it was made for, that decides between versions of `history`. A recorded name that the history
    /// doesn't have (renamed or removed since) is ignored: the content alone decides, which may fit several steps
    /// (`recordsVersions`).
    package func match(
        from source: VersionedModel, to destination: VersionedModel, history: Set<String> = []
    ) -> MappingMatch {
        var sentences = recordedDifferences(source, destination, history)
        do throws(MappingResolutionError) {
            _ = try resolved(from: source, to: destination)
        } catch {
            sentences += error.problems.filter { $0.concernsVersion }.map(\.description)
        }
        return sentences.isEmpty ? .fits : .differs(sentences)
    }

    /// Whether an `.xcmappingmodel` names both of its versions among those of `history`.
    package func recordsVersions(of history: Set<String>) -> Bool {
        guard let source = sourceModel?.name, let destination = destinationModel?.name else { return false }
        return history.contains(source) && history.contains(destination)
    }

    /// Whether it is for these two versions by more than its content: by its hashes, or by the names that it records.
    package func isMade(from source: String, to destination: String) -> Bool {
        form != .editor || (sourceModel?.name == source && destinationModel?.name == destination)
    }

    private func recordedDifferences(
        _ source: VersionedModel, _ destination: VersionedModel, _ history: Set<String>
    ) -> [String] {
        [("source", sourceModel?.name, source.name), ("destination", destinationModel?.name, destination.name)]
            .compactMap { side, recorded, actual in
                guard let recorded, let actual, recorded != actual, history.contains(recorded) else { return nil }
                return "its \(side) model is “\(recorded)”, not “\(actual)”"
            }
    }
}

extension MappingResolutionError.Problem {
    /// Whether another pair of versions might not have the problem.
    fileprivate var concernsVersion: Bool {
        switch code {
        case .unknownEntity, .unknownProperty, .differentHash: true
        case .unknownMapping, .contradiction, .malformed: false
        }
    }
}
