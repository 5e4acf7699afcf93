import Foundation

/// The most memory that this process has held.
enum PeakMemory {
    /// `VmHWM` belongs to this program alone; `ru_maxrss` would inherit the parent's. 0 where there is no `/proc`.
    static func bytes() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            return fields.count > 1 ? (Int(fields[1]) ?? 0) * 1_024 : 0
        }
        return 0
    }
}
