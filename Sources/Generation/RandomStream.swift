/// Random numbers that are a pure function of where they are used: seed, stream (entity and property) and key. Nothing
/// is kept between rows, so that any row can be made, or its links known, without the rows before it.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct RandomStream {
    private var state: UInt64

    init(stream: UInt64, key: Int) {
        state = RandomStream.mix(stream &+ UInt64(truncatingIfNeeded: key) &* 0x9e37_79b9_7f4a_7c15)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return RandomStream.mix(state)
    }

    /// From 0 up to, not including, `bound`, which must be positive.
    mutating func next(below bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// From 0 up to, not including, 1.
    mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    mutating func nextByte() -> UInt8 { UInt8(truncatingIfNeeded: next() >> 56) }

    /// One draw for a yes-or-no of the given key.
    static func chance(_ stream: UInt64, _ key: Int, outOf256 share: Int) -> Bool {
        guard share > 0 else { return false }
        var random = RandomStream(stream: stream, key: key)
        return random.next() >> 56 < UInt64(share)
    }

    /// The stream of a name: its FNV-1a hash, so that a property keeps its values when others come and go.
    static func stream(seed: UInt64, _ name: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return mix(hash ^ mix(seed))
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
