/// The part of a run in which pages are written and no connection is open on the new store: from where SQLite has let
/// go of the file to where it has it again.
extension Trace {
    /// Where the trace has such parts, one a step; as indexes of operations.
    package var pagePhases: [Range<Int>] {
        var result: [Range<Int>] = []
        // Where the journal of a staging store was last removed.
        var starts: [String: Int] = [:]
        var hasPages: Set<String> = []
        for (index, operation) in operations.enumerated() {
            if let name = Self.staging(operation.path, suffix: "-journal") {
                if let start = starts.removeValue(forKey: name), hasPages.contains(name) {
                    result.append(start..<index)
                }
                hasPages.remove(name)
                if operation.kind == .unlink { starts[name] = index + 1 }
            } else if operation.kind == .write, let name = Self.staging(operation.path, suffix: "") {
                hasPages.insert(name)
            }
        }
        return result
    }

    /// `step-1` of `…/step-1.sqlite` with the suffix.
    private static func staging(_ path: String, suffix: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        let end = ".sqlite" + suffix
        guard name.hasPrefix("step-"), name.hasSuffix(end), !name.hasSuffix("-objects" + end) else { return nil }
        return String(name.dropLast(end.count))
    }

    /// The numbers, from 1, of the calls in the page phases, as the shim counts those that a mode makes fail; nil for
    /// calls that aren't traced.
    package func callsAmongPages(of mode: FaultMode) -> [Int]? {
        let phases = pagePhases
        var (number, result) = (0, [Int]())
        for (index, operation) in operations.enumerated() {
            let counts: Bool
            switch mode {
            case .kill, .tear, .eio, .eioSticky: counts = operation.kind != .output
            case .enospc, .enospcSticky, .short: counts = operation.kind.takesRoom
            case .sync, .syncSticky: counts = operation.kind == .sync
            case .openEMFILE, .openEACCES, .readEIO: return nil
            }
            guard counts else { continue }
            number += 1
            if phases.contains(where: { $0.contains(index) }) { result.append(number) }
        }
        return result
    }
}

extension TraceOperation.Kind {
    /// As the shim sees it (faultshim.c).
    fileprivate var takesRoom: Bool {
        switch self {
        case .unlink, .removeDirectory, .changeMode, .changeOwner, .cut, .output: false
        default: true
        }
    }
}
