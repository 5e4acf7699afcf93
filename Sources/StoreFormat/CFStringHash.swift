/// CoreFoundation's hash of a string, in the width of the process that made the store.
///
/// Core Data enumerates an entity's properties in the order of a hash table keyed by name, and that order reaches the
/// schema: the sequence of join tables, clash suffixes, and which side names a join table of an entity with itself
/// (InsideStoreFormat §5.3).
package enum HashWidth: Hashable, Sendable {
    case bits64
    /// 32-bit devices and simulators; tried second for framework versions up to 754.
    case bits32
}

enum CFStringHash {
    /// Up to this many UTF-16 units the whole string is hashed; longer ones by their first, middle and last 32.
    private static let wholeStringLimit = 96
    private static let sampleLength = 32

    static func hash(_ string: String, width: HashWidth) -> UInt64 {
        let units = string.utf16.map(UInt64.init)
        var result = UInt64(units.count)
        func foldFour(_ start: Int) {
            result =
                result &* 67_503_105 &+ units[start] &* 16_974_593 &+ units[start + 1] &* 66_049
                &+ units[start + 2] &* 257 &+ units[start + 3]
        }
        if units.count <= wholeStringLimit {
            let aligned = units.count & ~3
            for start in stride(from: 0, to: aligned, by: 4) { foldFour(start) }
            for unit in units[aligned...] { result = result &* 257 &+ unit }
        } else {
            for sample in [0, units.count / 2 - sampleLength / 2, units.count - sampleLength] {
                for start in stride(from: sample, to: sample + sampleLength, by: 4) { foldFour(start) }
            }
        }
        result = result &+ (result << UInt64(units.count & 31))
        // Every step is a sum or a product, so the low half is what 32-bit arithmetic gives.
        return width == .bits64 ? result : result & 0xffff_ffff
    }
}
