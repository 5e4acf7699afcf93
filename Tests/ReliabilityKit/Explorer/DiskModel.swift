/// Files and names as a crash may leave them: what is durable, and what isn't yet (InsideCrashSafety §3.1).
///
/// Data is durable after an fsync of its file, names after an fsync of their folder; until then any part of either may
/// be on the disk. That is weaker than ext4, XFS and btrfs promise.
package struct DiskModel: Sendable {
    /// A file's content, which many states may share.
    package final class Content: Sendable {
        package let bytes: [UInt8]
        package let hash: UInt64

        package init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var hasher = Hasher()
            unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            hash = UInt64(bitPattern: Int64(hasher.finalize()))
        }
    }

    /// A change of a file's data that isn't durable, or wasn't when its file was last folded.
    struct DataChange: Sendable {
        enum Kind: Sendable {
            case write(offset: Int, bytes: [UInt8])
            /// Sets the length.
            case truncate(Int)
            /// Sets the length if it is smaller.
            case extend(Int)
        }

        let id: Int
        let node: Int
        let kind: Kind
        var isDurable = false
        /// The fsync of this change failed: no later one makes it durable.
        var isLost = false
    }

    /// A change of names; either all of it is on the disk or none.
    struct NameChange: Sendable {
        let id: Int
        /// Syncing this folder makes it durable.
        let folder: String
        /// nil removes the name.
        let effects: [(path: String, node: Int?)]
        var isLost = false
    }

    struct Node: Sendable {
        var isFolder = false
        var mode: UInt32
        /// Its number while the command ran.
        var inode: UInt64
        /// Content that was durable at some time; `changes` are applied to it, in order.
        var base: Content
        var changes: [DataChange] = []
        /// Counts the bases.
        var version = 0
    }

    /// Renames across folders count as two changes.
    let splitsRenames: Bool
    private(set) var nodes: [Node] = []
    private(set) var durableNames: [String: Int] = [:]
    /// Changes that aren't durable, in order.
    private(set) var names: [NameChange] = []
    /// What the running system shows.
    private(set) var currentNames: [String: Int] = [:]
    private var nodesByInode: [UInt64: Int] = [:]

    /// - Parameters:
    ///   - files: everything that exists before the first operation, durable; paths are relative.
    ///   - splitsRenames: see the property.
    package init(_ files: [StartFile], splitsRenames: Bool = false) {
        self.splitsRenames = splitsRenames
        for file in files {
            nodes.append(Node(isFolder: file.isFolder, mode: file.mode, inode: file.inode, base: Content(file.bytes)))
            durableNames[file.path] = nodes.count - 1
            nodesByInode[file.inode] = nodes.count - 1
        }
        currentNames = durableNames
    }

    /// A file or folder before the first operation.
    package struct StartFile: Sendable {
        package var path: String
        package var inode: UInt64
        package var mode: UInt32
        package var isFolder = false
        package var bytes: [UInt8] = []

        package init(path: String, inode: UInt64, mode: UInt32, isFolder: Bool = false, bytes: [UInt8] = []) {
            self.path = path
            self.inode = inode
            self.mode = mode
            self.isFolder = isFolder
            self.bytes = bytes
        }
    }

    /// Changes of data that a crash may lose, in order, of files that have a name in some state.
    var data: [DataChange] {
        var named = Set(durableNames.values)
        for change in names { named.formUnion(change.effects.compactMap(\.node)) }
        return named.flatMap { nodes[$0].changes.filter { !$0.isDurable } }.sorted { $0.id < $1.id }
    }

    /// Applies the next operation.
    ///
    /// - Parameters:
    ///   - operation: with relative paths.
    ///   - id: its number in the trace.
    /// - Throws: `HarnessError` if it is on a file that the model doesn't know.
    package mutating func apply(_ operation: TraceOperation, id: Int) throws {
        switch operation.kind {
        case .create: try create(operation, id, isFolder: false)
        case .makeDirectory: try create(operation, id, isFolder: true)
        case .cut: try change(operation, id, .truncate(0))
        case .write: try change(operation, id, .write(offset: operation.offset, bytes: operation.data))
        case .truncate: try change(operation, id, .truncate(operation.offset))
        case .allocate: try change(operation, id, .extend(operation.offset))
        case .rename: try rename(operation, id)
        case .link:
            guard let node = currentNames[operation.path] else {
                throw HarnessError("operation \(id) links \(operation.path), which isn't there")
            }
            name(id, operation.path2, node)
        case .unlink, .removeDirectory: name(id, operation.path, nil)
        case .sync: try sync(operation, id)
        case .changeMode:
            // Durable at once: no decision depends on modes, and a lost one would only be refused.
            nodes[try node(operation, id)].mode = operation.flags & 0o7777
        case .changeOwner, .setAttribute, .output: break
        }
    }

    private func node(_ operation: TraceOperation, _ id: Int) throws -> Int {
        if let node = nodesByInode[operation.inode] { return node }
        throw HarnessError("operation \(id) (\(operation.kind) \(operation.path)) is on a file that isn't known")
    }

    private mutating func create(_ operation: TraceOperation, _ id: Int, isFolder: Bool) throws {
        nodes.append(
            Node(isFolder: isFolder, mode: operation.flags & 0o7777, inode: operation.inode, base: Content([])))
        // The system uses inode numbers again.
        nodesByInode[operation.inode] = nodes.count - 1
        name(id, operation.path, nodes.count - 1)
    }

    private mutating func change(_ operation: TraceOperation, _ id: Int, _ kind: DataChange.Kind) throws {
        let node = try node(operation, id)
        var change = DataChange(id: id, node: node, kind: kind)
        // SQLite makes a -shm anew before it reads it, so parts of its writes needn't be tried.
        change.isDurable = operation.path.hasSuffix("-shm")
        nodes[node].changes.append(change)
        if change.isDurable { fold(node) }
    }

    private mutating func rename(_ operation: TraceOperation, _ id: Int) throws {
        guard let node = currentNames[operation.path], !nodes[node].isFolder else {
            throw HarnessError("operation \(id) renames \(operation.path), which is no file")
        }
        let (from, to) = (Self.parent(operation.path), Self.parent(operation.path2))
        if splitsRenames, from != to {
            add(NameChange(id: id, folder: to, effects: [(operation.path2, node)]))
            add(NameChange(id: id, folder: from, effects: [(operation.path, nil)]))
        } else {
            add(NameChange(id: id, folder: to, effects: [(operation.path, nil), (operation.path2, node)]))
        }
    }

    private mutating func name(_ id: Int, _ path: String, _ node: Int?) {
        add(NameChange(id: id, folder: Self.parent(path), effects: [(path, node)]))
    }

    private mutating func add(_ change: NameChange) {
        names.append(change)
        Self.apply(change, to: &currentNames)
    }

    static func apply(_ change: NameChange, to names: inout [String: Int]) {
        for (path, node) in change.effects { names[path] = node }
    }

    private mutating func sync(_ operation: TraceOperation, _ id: Int) throws {
        if operation.flags & 1 != 0 { return syncFolder(operation) }
        let index = try node(operation, id)
        for change in nodes[index].changes.indices where !nodes[index].changes[change].isLost {
            if operation.failed {
                nodes[index].changes[change].isLost = !nodes[index].changes[change].isDurable
            } else {
                nodes[index].changes[change].isDurable = true
            }
        }
        fold(index)
    }

    /// Changes that are durable, from the first on, become part of the base.
    private mutating func fold(_ index: Int) {
        let durable = nodes[index].changes.prefix { $0.isDurable }
        guard !durable.isEmpty else { return }
        var bytes = nodes[index].base.bytes
        for change in durable { FileImage.apply(change.kind, .whole, to: &bytes) }
        nodes[index].base = Content(bytes)
        nodes[index].version += 1
        nodes[index].changes.removeFirst(durable.count)
    }

    private mutating func syncFolder(_ operation: TraceOperation) {
        var settled: [String: Int] = [:]
        for change in names.indices.reversed() where names[change].folder == operation.path && !names[change].isLost {
            if operation.failed {
                names[change].isLost = true
            } else {
                for effect in names[change].effects {
                    settled[effect.path] = max(settled[effect.path] ?? 0, names[change].id)
                }
            }
        }
        guard !operation.failed else { return }
        // A rename that is durable in its target's folder has left the other folder too: earlier changes of the name
        // that it removed can't come back.
        var rest: [NameChange] = []
        for change in names {
            let isSettled = change.effects.allSatisfy { change.id <= settled[$0.path] ?? -1 }
            if change.isLost {
                // A newer state of its names is durable: it can't come back over that.
                if !isSettled { rest.append(change) }
            } else if change.folder == operation.path || isSettled {
                Self.apply(change, to: &durableNames)
            } else {
                rest.append(change)
            }
        }
        names = rest
    }

    static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }
}
