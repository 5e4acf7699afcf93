import CausewayPlatform

/// Numbers as people read them.
package enum Figures {
    /// `1,234,567`
    package static func grouped(_ number: Int) -> String { number.grouped }

    /// `999 B`, `1.5 kB`, `12.3 MB`: powers of 1,000, as disks are sold.
    package static func bytes(_ count: Int) -> String { bytes(Double(count)) }

    package static func bytes(_ count: Double) -> String {
        guard count >= 1_000 else { return "\(Int(max(0, count))) B" }
        var value = count
        var unit = ""
        for next in ["kB", "MB", "GB", "TB", "PB"] where value >= 999.95 || unit.isEmpty {
            value /= 1_000
            unit = next
        }
        return "\(tenths(value)) \(unit)"
    }

    /// `0.4 s`, `59.9 s`, `1:02:03`
    package static func seconds(_ seconds: Double) -> String {
        guard seconds >= 60 else { return "\(tenths(max(0, seconds))) s" }
        return clock(seconds)
    }

    /// `0:59`, `1:02:03`
    package static func clock(_ seconds: Double) -> String {
        // No one waits longer than a year, and infinity is no integer.
        let whole = Int(min(max(0, seconds.isNaN ? 0 : seconds), 366 * 86_400).rounded())
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }

    /// One decimal.
    package static func tenths(_ value: Double) -> String {
        let tenths = Int((min(abs(value), 1e15) * 10).rounded())
        return "\(value < 0 && tenths > 0 ? "-" : "")\(grouped(tenths / 10)).\(tenths % 10)"
    }

    /// `1 row`, `2 rows`
    package static func count(_ number: Int, _ singular: String, _ plural: String) -> String {
        "\(grouped(number)) \(number == 1 ? singular : plural)"
    }
}
