/// Texts of plausible words and lengths, as UTF-8 in a buffer that is used again.
struct TextComposer {
    private static let words: [[UInt8]] = [
        "amber", "autumn", "bark", "basket", "blossom", "branch", "café", "cellar", "cider", "cloud", "copper", "crate",
        "dawn", "drift", "ember", "fern", "field", "frost", "garden", "gate", "glade", "graft", "harvest", "hedge",
        "hollow", "honey", "husk", "ivy", "juniper", "kernel", "ladder", "lantern", "leaf", "maple", "meadow", "mist",
        "moss", "naïve", "nectar", "oak", "orchard", "pear", "petal", "pippin", "quince", "rain", "ridge", "river",
        "root", "russet", "sap", "seed", "shade", "spring", "Straße", "sunlight", "thicket", "thorn", "twig", "vine",
        "willow", "winter", "林檎", "🍎",
    ]
    .map { Array($0.utf8) }

    private(set) var bytes: [UInt8] = []

    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: [UInt8]) { bytes.append(contentsOf: text) }

    /// `count` words with blanks between; the first begins with a capital.
    mutating func appendTitle(words count: Int, _ random: inout RandomStream) {
        for number in 0..<count {
            if number > 0 { bytes.append(UInt8(ascii: " ")) }
            appendWord(&random, isCapital: number == 0)
        }
    }

    /// Sentences of `length` bytes or a little more.
    mutating func appendProse(length: Int, _ random: inout RandomStream) {
        Prose.shared.append(length: length, to: &bytes, &random)
    }

    mutating func appendWord(_ random: inout RandomStream, isCapital: Bool = false) {
        let start = bytes.count
        append(TextComposer.words[random.next(below: TextComposer.words.count)])
        if isCapital, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[start]) { bytes[start] -= 32 }
    }

    mutating func append(decimal value: Int) {
        append(Array(String(value).utf8))
    }

    mutating func appendDigits(_ count: Int, _ random: inout RandomStream) {
        for _ in 0..<count { bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: random.next(below: 10))) }
    }

    /// Two upper-case digits.
    mutating func appendHexadecimal(_ byte: UInt8) {
        bytes.append(TextComposer.digit(byte >> 4))
        bytes.append(TextComposer.digit(byte & 15))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// 36 characters, as Core Data writes UUIDs.
    mutating func append(_ uuid: RandomUUID) {
        for position in 0..<16 {
            if position == 4 || position == 6 || position == 8 || position == 10 { bytes.append(UInt8(ascii: "-")) }
            appendHexadecimal(uuid[position])
        }
    }

    /// Cuts after `length` characters.
    mutating func truncate(toCharacters length: Int) {
        var characters = 0
        for (position, byte) in bytes.enumerated() where byte & 0xc0 != 0x80 {
            if characters == length {
                bytes.removeSubrange(position...)
                return
            }
            characters += 1
        }
    }
}

/// A random UUID (RFC 9562, version 4).
struct RandomUUID: Hashable {
    private let high: UInt64
    private let low: UInt64

    init(_ random: inout RandomStream) {
        high = random.next() & ~0xf000 | 0x4000
        low = random.next() & ~(3 << 62) | 1 << 63
    }

    /// Its bytes from 0 to 15.
    subscript(position: Int) -> UInt8 {
        let half = position < 8 ? high : low
        return UInt8(truncatingIfNeeded: half >> UInt64(56 - position % 8 * 8))
    }
}
