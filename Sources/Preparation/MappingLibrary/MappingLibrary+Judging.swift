package import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewayPlatform

/// One step of a path, as mapping models are matched to it.
package struct MappingHop: Hashable, Sendable {
    package var from: VersionedModel
    package var to: VersionedModel

    package init(from: VersionedModel, to: VersionedModel) {
        self.from = from
        self.to = to
    }

    /// `v2 → v3`
    package var title: String { "\(from.name ?? "?") → \(to.name ?? "?")" }

    /// Whether the hashes differ: a store needs the step.
    fileprivate var isChange: Bool { from.hashes.entities != to.hashes.entities }
}

/// What one mapping model is for.
package enum MappingVerdict: Hashable, Sendable {
    /// Positions of the hops that it fits.
    case fits([Int])
    /// It fits several steps, of which `hops` are asked for, and is for one of them: its file names the versions of
    /// none.
    case ambiguous(hops: [Int], steps: [String])
    /// It was made for the versions of another bundle. `hops` have the same entities and properties; `isBeside` where
    /// that bundle is known.
    case ofAnotherModel(OtherModel)
    /// None of the hops, but another pair of versions.
    case elsewhere(from: String, to: String)
    /// No pair of versions. `meant` is the hop that it claims to be for; `nearest` names the versions that the
    /// sentences are about.
    case differs(meant: Int?, nearest: String, sentences: [String])
}

/// The model that a mapping model was made for, where it isn't the one that was read.
package struct OtherModel: Hashable, Sendable {
    /// As it was recorded, without extension.
    package var bundle: String
    /// Whether the bundle was seen.
    var isPresent: Bool
    /// Positions of the hops that have the same entities and properties.
    var hops: [Int]
}

extension MappingLibrary {
    /// Finds the hops of every entry.
    ///
    /// - Parameters:
    ///   - hops: the steps that count.
    ///   - history: all versions, to distinguish a mapping model of another step from one that matches nothing.
    /// - Returns: a verdict for each of `entries`.
    package func verdicts(_ hops: [MappingHop], in history: ModelHistory) -> [MappingVerdict] {
        let judge = MappingJudge(hops, history, bundles)
        return entries.map { judge.verdict($0) }
    }
}

/// Matches mapping models to the steps of a history.
private struct MappingJudge {
    private let hops: [MappingHop]
    private let versions: [VersionedModel]
    /// Of all versions, also unreadable ones: a mapping model for such a version isn't for another one.
    private let names: Set<String>
    private let bundles: ModelBundles
    /// Steps of the history that aren't asked for.
    private let otherSteps: [MappingHop]

    init(_ hops: [MappingHop], _ history: ModelHistory, _ bundles: ModelBundles) {
        names = Set(history.graph.versions)
        versions = history.versions.map(\.versioned)
        let titles = Set(hops.map(\.title))
        otherSteps = history.hops.filter { !titles.contains($0.title) }
        (self.hops, self.bundles) = (hops, bundles)
    }

    func verdict(_ entry: MappingLibrary.Entry) -> MappingVerdict {
        if case .code(let from, let to) = entry.origin { return verdict(from: from, to: to) }
        let mapping = entry.description
        let fitting = hops.indices.filter { sentences(mapping, hops[$0]).isEmpty }
        if let other = otherBundle(of: entry) {
            return .ofAnotherModel(OtherModel(bundle: other.name, isPresent: other.isPresent, hops: fitting))
        }
        if !fitting.isEmpty { return choice(of: fitting, entry) }
        if let from = mapping.sourceModel?.name, let to = mapping.destinationModel?.name, names.contains(from),
            names.contains(to)
        {
            return verdict(mapping, recordedFrom: from, to: to)
        }
        for from in versions where canRead(mapping, from) {
            for to in versions where to.name != from.name && canMake(mapping, to) {
                let pair = MappingHop(from: from, to: to)
                if sentences(mapping, pair).isEmpty {
                    return .elsewhere(from: from.name ?? "", to: to.name ?? "")
                }
            }
        }
        return nearest(mapping)
    }

    /// Which of the hops it is for whose entities and properties it has. Where neither hashes nor names decide, a step
    /// outside the path may be the one that is meant, unless the user gave the mapping model for this path. A step that
    /// changes nothing isn't meant.
    private func choice(of fitting: [Int], _ entry: MappingLibrary.Entry) -> MappingVerdict {
        let mapping = entry.description
        guard mapping.form == .editor, !mapping.recordsVersions(of: names) else { return .fits(fitting) }
        let changing = fitting.filter { hops[$0].isChange }
        let others =
            entry.origin == .found ? otherSteps.filter { $0.isChange && sentences(mapping, $0).isEmpty } : []
        let steps = (changing.map { hops[$0] } + others).map(\.title)
        return steps.count > 1 ? .ambiguous(hops: fitting, steps: steps) : .fits(changing.isEmpty ? fitting : changing)
    }

    /// The bundle that a found mapping model was made for, if that isn't the one that was read. A bundle may have been
    /// renamed: then no bundle has the recorded name, and the versions are those of this history.
    private func otherBundle(of entry: MappingLibrary.Entry) -> (name: String, isPresent: Bool)? {
        let mapping = entry.description
        let recorded = [mapping.sourceModel, mapping.destinationModel].compactMap { $0?.bundle }
        guard entry.origin == .found, let name = recorded.first else { return nil }
        let present = bundles.others.filter { $0.name == name.lowercased() }
        if recorded.contains(where: { bundles.own.contains($0.lowercased()) }) {
            // One of the same name that is nearer: both are in a folder beside the models.
            let isNearer = present.contains { $0.branch != nil && $0.branch == entry.place.branch }
            return isNearer ? (name, true) : nil
        }
        let versions = [mapping.sourceModel, mapping.destinationModel].compactMap { $0?.name }
        guard !bundles.own.isEmpty else {
            // Single models, taken out of a bundle whose name isn't known.
            return versions.contains(where: names.contains) ? nil : (name, !present.isEmpty)
        }
        guard present.isEmpty, mapping.recordsVersions(of: names) else { return (name, !present.isEmpty) }
        return nil
    }

    /// For a mapping model in Swift: its step is given, whatever its content; the planner reports its mistakes.
    private func verdict(from: String, to: String) -> MappingVerdict {
        let meant = hops.indices.filter { hops[$0].from.name == from && hops[$0].to.name == to }
        if !meant.isEmpty { return .fits(meant) }
        let unknown = [from, to].filter { !names.contains($0) }
        guard !unknown.isEmpty else { return .elsewhere(from: from, to: to) }
        return .differs(
            meant: nil, nearest: "\(from) → \(to)",
            sentences: unknown.map { "there is no version “\($0)” among the models" })
    }

    private func verdict(_ mapping: MappingModelDescription, recordedFrom from: String, to: String) -> MappingVerdict {
        let meant = hops.firstIndex { $0.from.name == from && $0.to.name == to }
        guard let source = versions.first(where: { $0.name == from }),
            let destination = versions.first(where: { $0.name == to })
        else { return .elsewhere(from: from, to: to) }
        let sentences = sentences(mapping, MappingHop(from: source, to: destination))
        return sentences.isEmpty
            ? .elsewhere(from: from, to: to) : .differs(meant: meant, nearest: "\(from) → \(to)", sentences: sentences)
    }

    /// Why a mapping model isn't for a hop; empty where it is.
    private func sentences(_ mapping: MappingModelDescription, _ hop: MappingHop) -> [String] {
        // A new layout for the same version: nothing changes that a mapping model could describe.
        guard hop.from.name == nil || hop.from.name != hop.to.name else { return ["\(hop.title) isn't a step"] }
        switch mapping.match(from: known(hop.from), to: known(hop.to), history: names) {
        case .fits: return []
        case .differs(let sentences): return sentences
        }
    }

    /// A version from a store's own cache has a made-up name, which must not be compared.
    private func known(_ version: VersionedModel) -> VersionedModel {
        guard let name = version.name, !names.contains(name) else { return version }
        var version = version
        version.name = nil
        return version
    }

    private func nearest(_ mapping: MappingModelDescription) -> MappingVerdict {
        let meant = mapping.form == .compiled ? hops.firstIndex { isMeant(mapping, for: $0) } : nil
        let candidates = meant.map { [hops[$0]] } ?? hops
        let ranked = candidates.map { ($0.title, sentences(mapping, $0)) }
        guard let best = ranked.min(by: { $0.1.count < $1.1.count }) else {
            return .differs(meant: nil, nearest: "", sentences: ["it fits no two versions of the models"])
        }
        return .differs(meant: meant, nearest: best.0, sentences: best.1)
    }

    /// A compiled mapping model names no versions. It is taken to be for a hop of which one end has every hash, and the
    /// other every entity: that end was edited after the mapping model was compiled.
    private func isMeant(_ mapping: MappingModelDescription, for hop: MappingHop) -> Bool {
        let (reads, makes) = (canRead(mapping, hop.from), canMake(mapping, hop.to))
        if reads == makes { return false }
        let other = mapping.entityMappings.compactMap { reads ? $0.destinationEntity : $0.sourceEntity }
        let model = reads ? hop.to.model : hop.from.model
        return other.allSatisfy { model.entities[$0] != nil }
    }

    /// Whether a version has every source entity, with the recorded hash where there is one.
    private func canRead(_ mapping: MappingModelDescription, _ version: VersionedModel) -> Bool {
        mapping.entityMappings.allSatisfy { Self.has($0.sourceEntity, $0.sourceHash, version) }
    }

    private func canMake(_ mapping: MappingModelDescription, _ version: VersionedModel) -> Bool {
        mapping.entityMappings.allSatisfy { Self.has($0.destinationEntity, $0.destinationHash, version) }
    }

    private static func has(_ entity: String?, _ hash: [UInt8]?, _ version: VersionedModel) -> Bool {
        guard let entity else { return true }
        guard let actual = version.hashes.entities[entity] else { return false }
        return hash == nil || hash == actual
    }
}

extension MappingLibrary {
    /// Whether a file that can't be read, or isn't opened, may be of a bundle beside the models: such a bundle is
    /// there, and neither its folder nor its name says that the file is for these models.
    package func mayBeOfAnotherModel(_ file: Unread, in history: ModelHistory) -> Bool {
        isBesideOthers(file.path, file.place) && !history.hops.contains(where: file.isNamed)
    }

    /// Whether a found compiled mapping model, which records no bundle, is of a bundle beside the models: such a bundle
    /// is there, and no version has all of the entities that it reads, or all that it makes.
    package func isOfAnotherModel(_ entry: Entry, in history: ModelHistory) -> Bool {
        let mappings = entry.description.entityMappings
        func isKnown(_ names: [String]) -> Bool {
            history.versions.contains { version in names.allSatisfy { version.model.entities[$0] != nil } }
        }
        return entry.origin == .found && entry.description.form == .compiled
            && isBesideOthers(entry.description.path ?? "", entry.place)
            && !isKnown(mappings.compactMap(\.sourceEntity)) && !isKnown(mappings.compactMap(\.destinationEntity))
    }

    /// Whether another bundle is in the same folder beside the models, or below it, and the file isn't inside a bundle.
    private func isBesideOthers(_ path: String, _ place: MappingPlace) -> Bool {
        !MappingSearch.isBundle(Paths.parent(of: path)) && bundles.others.contains { $0.branch == place.branch }
    }
}

extension ModelHistory {
    /// Every step from a version to the one that follows it, both of which can be read.
    package var hops: [MappingHop] {
        graph.versions.compactMap { name in graph.next(after: name).flatMap { hop(from: name, to: $0) } }
    }

    /// The steps between two versions; nil where no path leads there, or a version on it can't be read.
    func hops(from start: String, to end: String) -> [MappingHop]? {
        guard let path = try? graph.path(from: start, to: end) else { return nil }
        let hops = zip(path, path.dropFirst()).compactMap { hop(from: $0, to: $1) }
        return hops.count + 1 == path.count ? hops : nil
    }

    private func hop(from: String, to: String) -> MappingHop? {
        guard let source = versions.first(where: { $0.name == from }),
            let destination = versions.first(where: { $0.name == to })
        else { return nil }
        return MappingHop(from: source.versioned, to: destination.versioned)
    }
}
