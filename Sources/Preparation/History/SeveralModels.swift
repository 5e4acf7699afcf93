import CausewayModel
import CausewayStores

/// Makes one history of what several `--models` name (the article “One model in several files” has the rules).
///
/// - Stores alone: each has one version in its cache, and they follow each other as given.
/// - Two that have more than half of the smaller one's entities in common, by name, hold versions of one model. Their
///   versions make one line: in the order of each bundle, and where no bundle says more, in the order given.
/// - What doesn't hold versions of the same model is a part of it: the parts are merged, version by version, into
///   models that have the entities of all.
struct SeveralModels {
    private let given: [GivenModels]

    init(_ given: [GivenModels]) {
        self.given = given
    }

    /// The one history; refused where two readings are possible.
    func history() throws(EngineError) -> GivenModels {
        if given.count == 1, let only = given.first { return only }
        if given.allSatisfy(\.isStore) { return try Self.united(given) }
        for models in given where models.versions.allSatisfy({ $0.readable == nil }) {
            throw EngineError(
                .plan, "\(models.path): no version of it can be read",
                details: models.versions.map { "\($0.name): \(Self.reason($0))" },
                remedy: "fix the model, or leave it out")
        }
        let groups = groups()
        for group in groups where groups.count > 1 && group.allSatisfy(\.isStore) {
            throw EngineError(
                .plan,
                """
                \(Self.title(of: group)): a store's cache is never a part of a model, and it shares too few entities with \
                the other models to be a version of theirs
                """,
                remedy: "give models of one app, or stores alone")
        }
        let parts = try groups.map { group throws(EngineError) in try Self.united(group) }
        return parts.count == 1 ? parts[0] : try Self.merged(parts)
    }

    private static func title(of given: [GivenModels]) -> String { given.map(\.path).joined(separator: ", ") }

    private static func reason(_ version: GivenModels.Version) -> String {
        if case .failure(let error) = version.model { error.description } else { "" }
    }

    // MARK: - Versions or parts

    /// Those that hold versions of the same model, in the order given; each alone that doesn't.
    private func groups() -> [[GivenModels]] {
        let names = given.map(\.entityNames)
        var groups: [[Int]] = []
        for index in given.indices {
            func shares(_ group: [Int]) -> Bool {
                group.contains { other in
                    let smaller = min(names[index].count, names[other].count)
                    return names[index].intersection(names[other]).count * 2 > smaller
                }
            }
            let found = groups.filter(shares).flatMap(\.self)
            groups.removeAll(where: shares)
            groups.append((found + [index]).sorted())
        }
        return groups.sorted { ($0.first ?? 0) < ($1.first ?? 0) }.map { $0.map { given[$0] } }
    }

    // MARK: - Versions of one model

    private static func united(_ group: [GivenModels]) throws(EngineError) -> GivenModels {
        if group.count == 1, let only = group.first { return only }
        var line = VersionLine()
        for models in group { line.add(models) }
        return try line.history(title: title(of: group))
    }

    // MARK: - Parts of one model

    private static func merged(_ parts: [GivenModels]) throws(EngineError) -> GivenModels {
        let histories = parts.filter { $0.versions.count > 1 }
        guard let names = histories.first?.versions.map(\.name) else {
            let versions = parts.compactMap(\.versions.first)
            let name = versions.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
                .joined(separator: " + ")
            return GivenModels(
                path: title(of: parts), versions: [try merged(versions, as: name)], currentVersionName: name,
                notices: parts.flatMap(\.notices))
        }
        guard histories.allSatisfy({ $0.versions.map(\.name) == names }) else {
            throw EngineError(
                .plan, "it isn't known which versions of these models belong together",
                details: histories.map { "\($0.path): \($0.versions.map(\.name).joined(separator: ", "))" },
                remedy: "give one version of each (App.momd/App 2.mom), or give the versions of all the same names")
        }
        var versions: [GivenModels.Version] = []
        for name in names {
            let members = parts.compactMap { part in
                part.versions.first { $0.name == name || part.versions.count == 1 }
            }
            versions.append(try merged(members, as: name))
        }
        let currents = Set(histories.map(\.currentVersionName))
        var notices = parts.flatMap(\.notices)
        if currents.count > 1 {
            notices.append("The models mark different versions as the current one; give the one to reach with --to.")
        }
        return GivenModels(
            path: title(of: parts), versions: versions,
            currentVersionName: currents.count == 1 ? currents.first ?? nil : nil, notices: notices)
    }

    private static func merged(
        _ members: [GivenModels.Version], as name: String
    ) throws(EngineError) -> GivenModels.Version {
        let paths = members.flatMap(\.paths)
        var models: [(title: String, model: ManagedObjectModel)] = []
        for member in members {
            switch member.model {
            case .success(let model): models.append((member.paths.first ?? member.name, model))
            case .failure: return GivenModels.Version(name: name, paths: paths, model: member.model)
            }
        }
        do throws(ModelError) {
            return GivenModels.Version(name: name, paths: paths, model: .success(try .merged(models)))
        } catch {
            throw EngineError(
                .plan, "the models can't be merged into one (version \"\(name)\")",
                details: error.problems.map(\.description),
                remedy: "give models of one app, or leave one of them out")
        }
    }
}

/// Versions of one model out of several places, in one line.
private struct VersionLine {
    private var versions: [GivenModels.Version] = []
    private var hashes: [[String: [UInt8]]?] = []
    /// Pairs of places in `versions` of which the first comes before the second.
    private var order: Set<[Int]> = []
    /// What each place marks as its current version, or has last.
    private var ends: [Int] = []
    private var notices: [String] = []

    mutating func add(_ models: GivenModels) {
        // Only versions of other places can be the same: a bundle may have two with equal hashes.
        let known = versions.indices
        var line: [Int] = []
        for version in models.versions {
            let own = version.readable.map { VersionHashes($0).entities }
            let same = known.filter { index in
                if line.contains(index) { return false }
                if let own, let other = hashes[index] { return own == other }
                return versions[index].name == version.name
            }
            if let same = same.first(where: { versions[$0].name == version.name }) ?? same.first {
                if hashes[same] == nil, own != nil {
                    versions[same] = version
                    hashes[same] = own
                }
                if versions[same].name != version.name {
                    notices.append(
                        "“\(version.name)” of \(models.path) has the hashes of “\(versions[same].name)”: they are one "
                            + "version, and “\(versions[same].name)” counts, because it was given first")
                }
                line.append(same)
                continue
            }
            var version = version
            if versions.contains(where: { $0.name == version.name }) { version.name += " (\(models.path))" }
            line.append(versions.count)
            versions.append(version)
            hashes.append(own)
        }
        for (before, after) in zip(line, line.dropFirst()) where before != after { order.insert([before, after]) }
        let marked = models.currentVersionName.flatMap { name in models.versions.firstIndex { $0.name == name } }
        if let end = marked.map({ line[$0] }) ?? line.last { ends.append(end) }
        notices += models.notices
    }

    func history(title: String) throws(EngineError) -> GivenModels {
        var left = Array(versions.indices)
        var places: [Int] = []
        while !left.isEmpty {
            // The first in the order given that no other must come before.
            guard let next = left.first(where: { index in !left.contains { order.contains([$0, index]) } }) else {
                throw EngineError(
                    .plan,
                    "\(title): they have these versions in different orders: "
                        + left.map { versions[$0].name }.joined(separator: ", "),
                    remedy: "give the versions one by one, in their order")
            }
            places.append(next)
            left.removeAll { $0 == next }
        }
        let last = places.last { ends.contains($0) }
        return GivenModels(
            path: title, versions: places.map { versions[$0] }, currentVersionName: last.map { versions[$0].name },
            notices: notices)
    }
}
