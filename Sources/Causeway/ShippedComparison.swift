import CausewayModel
import CausewayPlanning
import CausewayPlatform
import CausewayPreparation

/// A record of shipped versions against the models of today.
struct ShippedComparison {
    let record: ShippedModels
    let history: ModelHistory
    /// Every version that can be read.
    let present: [String: ShippedModels.Version]

    init(_ record: ShippedModels, _ history: ModelHistory) {
        self.record = record
        self.history = history
        present = Dictionary(
            history.versions.map { ($0.name, ShippedModels.Version($0.hashes)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Of all versions, those among them that can't be read.
    var names: Set<String> { Set(history.graph.versions) }

    /// Versions up to the current one: what comes after it isn't in any app yet.
    var shipping: [String] {
        let names = history.graph.versions
        guard let last = names.firstIndex(of: history.currentVersion) else { return names }
        return Array(names[...last])
    }

    var unrecorded: [String] {
        history.graph.versions.filter { name in
            guard let version = present[name] else { return false }
            return record.name(of: version, called: name, besides: names) == nil && record.versions[name] == nil
        }
    }

    /// Recorded versions that aren't there any more, whatever their name. One that can't be read isn't gone.
    var gone: [String] {
        record.versions.filter { name, version in
            present[name] == nil && history.failures[name] == nil
                && !present.values.contains { $0.entities == version.entities }
        }.keys.sorted()
    }

    /// Recorded versions that have another name now.
    var notices: [String] {
        record.versions.sorted { $0.key < $1.key }.compactMap { name, version in
            guard present[name] == nil, history.failures[name] == nil else { return nil }
            let others = history.graph.versions.filter { present[$0]?.entities == version.entities }
            guard let other = others.last else { return nil }
            let notice = "\"\(name)\" has shipped and is called \"\(other)\" now; its hashes are the same"
            guard others.count > 1 else { return notice }
            let rest = others.dropLast().map { "\"\($0)\"" }.joined(separator: " and ")
            return notice + " (those of \(rest) too: the last of them counts, as for a store)"
        }
    }

    /// Shipped versions that were edited or removed.
    var changes: [ModelsCheck.Problem] {
        var problems: [ModelsCheck.Problem] = []
        for (name, version) in record.versions.sorted(by: { $0.key < $1.key }) {
            if let now = present[name] { problems += edits(of: name, version, now) }
        }
        problems += gone.map { name in
            ModelsCheck.Problem(
                kind: .shippedVersionRemoved,
                message: "\"\(name)\" has shipped and isn't among the models any more: its stores can't be identified",
                version: name)
        }
        return problems
    }

    /// The same, and versions that can't be read.
    var problems: [ModelsCheck.Problem] { changes + history.graph.versions.compactMap(unreadable) }

    /// The problem of a version that can't be read; nil where it can.
    func unreadable(_ name: String) -> ModelsCheck.Problem? {
        history.failures[name].map { reason in
            var problem = ModelsCheck.Problem(
                kind: .version, message: "\"\(name)\" can't be read: \(reason)", version: name)
            problem.file = place(of: name).file
            return problem
        }
    }

    private func edits(
        of name: String, _ shipped: ShippedModels.Version, _ now: ShippedModels.Version
    ) -> [ModelsCheck.Problem] {
        Set(shipped.entities.keys).union(now.entities.keys).sorted().compactMap { entity in
            guard shipped.entities[entity] != now.entities[entity] else { return nil }
            let what =
                shipped.entities[entity] == nil
                ? "was added" : now.entities[entity] == nil ? "was removed" : "was edited"
            var problem = ModelsCheck.Problem(
                kind: .shippedVersionEdited,
                message:
                    "\"\(name)\" has shipped, and since then its entity \"\(entity)\" \(what): change a new version "
                    + "instead",
                version: name, entity: entity)
            (problem.file, problem.line) = place(of: name, entity: entity)
            return problem
        }
    }

    /// The file of a version, and the line at which an entity begins where it is a source.
    func place(of version: String, entity: String? = nil) -> (file: String?, line: Int?) {
        let files = (history.files[version] ?? []).map { path in
            (try? Files.status(of: path))?.kind == .directory ? Paths.join(path, "contents") : path
        }
        guard let entity else { return (files.first, nil) }
        for file in files {
            guard let bytes = try? Files.readFile(file, limit: ModelLimits.fileSize),
                bytes.first == UInt8(ascii: "<")
            else { continue }
            // As Xcode writes it.
            let mark = Array("<entity name=\"\(entity)\"".utf8)
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            if let index = lines.firstIndex(where: { $0.contains(mark) }) { return (file, index + 1) }
        }
        return (files.first, nil)
    }
}
