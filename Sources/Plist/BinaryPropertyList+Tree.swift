extension BinaryPropertyList {
    /// Expands the top object into a tree of values.
    ///
    /// Each object is converted once and its value shared, so time and memory follow the file's size; the number of
    /// values in a walk of the tree is still counted and must stay below `PropertyListLimits.treeNodes`. Throws
    /// `cycle`, `limitExceeded`, and `malformed` for a null, for a key that's no string and for equal keys in one
    /// dictionary.
    package func tree() throws(PropertyListError) -> PropertyList {
        var expansion = TreeExpansion(list: self)
        return try expansion.expand()
    }
}

/// Turns the object table into values from the leaves upwards, with a stack of its own: foreign nesting never becomes
/// recursion.
private struct TreeExpansion {
    private enum State {
        case untouched
        /// On the stack: meeting it again means that it contains itself.
        case open
        case done(PropertyList, size: Int, depth: Int)
    }

    private let list: BinaryPropertyList
    private var states: [State]
    private var stack: [Int] = []

    init(list: BinaryPropertyList) {
        self.list = list
        self.states = Array(repeating: .untouched, count: list.objects.count)
    }

    mutating func expand() throws(PropertyListError) -> PropertyList {
        stack = [list.root]
        while let index = stack.last {
            switch states[index] {
            case .done:
                stack.removeLast()
            case .untouched:
                states[index] = .open
                try pushChildren(of: index)
            case .open:
                states[index] = try close(index)
                stack.removeLast()
            }
        }
        guard case .done(let value, _, _) = states[list.root] else {
            throw PropertyListError(.malformed, "The property list has no top object.")
        }
        return value
    }

    private mutating func pushChildren(of index: Int) throws(PropertyListError) {
        switch list.objects[index] {
        case .array(let items), .set(let items), .dictionary(_, let items):
            for reference in list.references(in: items) {
                switch states[Int(reference)] {
                case .done: continue
                case .untouched: stack.append(Int(reference))
                case .open: throw cycle(at: reference)
                }
            }
        default: break
        }
    }

    private func cycle(at reference: UInt32) -> PropertyListError {
        PropertyListError(
            .cycle, "A value of the property list contains itself; it can't be read as a tree.",
            at: "object \(reference)")
    }

    private func close(_ index: Int) throws(PropertyListError) -> State {
        switch list.objects[index] {
        case .null:
            throw PropertyListError(.malformed, "A property list can't hold a null.", at: "object \(index)")
        case .boolean(let value): return leaf(.boolean(value))
        case .integer(let value): return leaf(.integer(value))
        case .unsigned(let value): return leaf(.unsigned(value))
        case .real(let value): return leaf(.real(value))
        case .date(let value): return leaf(.date(value))
        case .data(let value): return leaf(.data(value))
        case .string(let value): return leaf(.string(value))
        case .uid(let value): return leaf(.uid(value))
        case .array(let items), .set(let items):
            let (values, size, depth) = try children(items, of: index)
            return .done(.array(values), size: size, depth: depth)
        case .dictionary(let keys, let items):
            let (values, size, depth) = try children(items, of: index)
            var entries: [String: PropertyList] = [:]
            entries.reserveCapacity(values.count)
            for (position, value) in values.enumerated() {
                guard case .string(let key) = list.object(at: position, in: keys) else {
                    throw PropertyListError(.malformed, "A dictionary key isn't a string.", at: "object \(index)")
                }
                guard entries.updateValue(value, forKey: key) == nil else {
                    throw PropertyListError(
                        .malformed, "A dictionary has the key “\(key)” twice.", at: "object \(index)")
                }
            }
            return .done(.dictionary(entries), size: size, depth: depth)
        }
    }

    private func leaf(_ value: PropertyList) -> State { .done(value, size: 1, depth: 1) }

    /// The values of a container whose children are all done, and what the container measures with them.
    private func children(
        _ range: BinaryPropertyList.ReferenceRange, of index: Int
    ) throws(PropertyListError) -> (values: [PropertyList], size: Int, depth: Int) {
        var values: [PropertyList] = []
        values.reserveCapacity(range.count)
        var total = 1
        var deepest = 0
        for reference in list.references(in: range) {
            guard case .done(let value, let size, let depth) = states[Int(reference)] else {
                throw cycle(at: reference)
            }
            values.append(value)
            // No overflow: both stay below the limit that's checked on every turn.
            total += size
            deepest = max(deepest, depth)
            guard total <= PropertyListLimits.treeNodes else {
                throw PropertyListError(
                    .limitExceeded,
                    "The property list expands to more than \(PropertyListLimits.treeNodes) values.",
                    at: "object \(index)")
            }
        }
        guard deepest < PropertyListLimits.treeDepth else {
            throw PropertyListError(
                .limitExceeded, "The property list is nested deeper than \(PropertyListLimits.treeDepth) levels.",
                at: "object \(index)")
        }
        return (values, total, deepest + 1)
    }
}
