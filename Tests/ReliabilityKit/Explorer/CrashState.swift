/// One state in which a crash may leave the disk.
package struct CrashState: Sendable {
    /// Number of operations before the crash.
    package var point: Int
    package var choice: PersistenceChoice
    /// By path, sorted; several paths may be names of one node.
    package var files: [File]
    package var folders: [(path: String, mode: UInt32)]
    /// Over names and contents.
    package var hash: UInt64

    package struct File: Sendable {
        package var path: String
        package var node: Int
        package var inode: UInt64
        package var content: DiskModel.Content
        package var mode: UInt32
    }

    package var label: String { "\(point):\(choice)" }

    /// Whether the work directory has a new store, complete or not.
    package var hasStaging: Bool {
        files.contains { $0.path.hasPrefix(Subject.workName + "/") && $0.path.hasSuffix(".sqlite") }
    }

    /// A hash of everything outside of a folder: what an application may read.
    package func hash(outside folder: String) -> UInt64 {
        var hasher = Hasher()
        for file in files where !file.path.hasPrefix(folder + "/") {
            hasher.combine(file.path)
            hasher.combine(file.content.hash)
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension DiskModel {
    /// Every state that the explorer would try if the machine crashed now.
    package func everyState() -> [CrashState] {
        var maker = StateMaker()
        return ChoiceFamily(self).exhaustive().map { maker.state(self, $0, point: 0) }
    }
}

/// Makes the states that are possible at one moment of a model; contents are shared.
struct StateMaker {
    /// Contents in the cache, at most; they belong to the last few crash points.
    private static let cachedContents = 400

    private struct ContentKey: Hashable {
        let node: Int
        let version: Int
        let parts: [Int]
    }

    private var contents: [ContentKey: DiskModel.Content] = [:]

    mutating func state(_ model: DiskModel, _ choice: PersistenceChoice, point: Int) -> CrashState {
        var names = model.durableNames
        for (index, change) in model.names.enumerated() where choice.names.part(of: index) != nil {
            DiskModel.apply(change, to: &names)
        }
        var parts: [Int: FileImage.Part] = [:]
        for (index, change) in model.data.enumerated() { parts[change.id] = choice.data.part(of: index) }
        var state = CrashState(point: point, choice: choice, files: [], folders: [], hash: 0)
        var hasher = Hasher()
        for (path, index) in names.sorted(by: { $0.key < $1.key }) where isReachable(path, names, model) {
            let node = model.nodes[index]
            hasher.combine(path)
            if node.isFolder {
                state.folders.append((path, node.mode))
            } else {
                let content = content(index, node, parts)
                hasher.combine(content.hash)
                // A second name of a file and a copy of it are different states.
                hasher.combine(state.files.firstIndex { $0.node == index } ?? -1)
                state.files.append(.init(path: path, node: index, inode: node.inode, content: content, mode: node.mode))
            }
        }
        state.hash = UInt64(bitPattern: Int64(hasher.finalize()))
        return state
    }

    /// A name in a folder that is missing is missing too.
    private func isReachable(_ path: String, _ names: [String: Int], _ model: DiskModel) -> Bool {
        var parent = DiskModel.parent(path)
        while !parent.isEmpty {
            guard let node = names[parent], model.nodes[node].isFolder else { return false }
            parent = DiskModel.parent(parent)
        }
        return true
    }

    private mutating func content(
        _ index: Int, _ node: DiskModel.Node, _ parts: [Int: FileImage.Part]
    ) -> DiskModel.Content {
        guard !node.changes.isEmpty else { return node.base }
        var key: [Int] = []
        for change in node.changes {
            switch change.isDurable ? .whole : parts[change.id] {
            case nil: continue
            case .whole: key.append(change.id * 4)
            case .front: key.append(change.id * 4 + 1)
            case .back: key.append(change.id * 4 + 2)
            case .size: key.append(change.id * 4 + 3)
            }
        }
        guard !key.isEmpty else { return node.base }
        let full = ContentKey(node: index, version: node.version, parts: key)
        if let known = contents[full] { return known }
        var bytes = node.base.bytes
        for change in node.changes {
            guard let part = change.isDurable ? .whole : parts[change.id] else { continue }
            FileImage.apply(change.kind, part, to: &bytes)
        }
        let content = DiskModel.Content(bytes)
        if contents.count >= Self.cachedContents { contents.removeAll(keepingCapacity: true) }
        contents[full] = content
        return content
    }
}
