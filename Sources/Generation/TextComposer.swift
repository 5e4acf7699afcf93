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

    /// Sentences of `length` bytes or a little more; now and then a new paragraph.
    mutating func appendProse(length: Int, _ random: inout RandomStream) {
        let end = bytes.count + length
        while bytes.count < end {
            appendTitle(words: 4 + random.next(below: 10), &random)
            bytes.append(UInt8(ascii: "."))
            bytes.append(random.next(below: 8) == 0 ? UInt8(ascii: "\n") : UInt8(ascii: " "))
        }
        bytes.removeLast()
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

    /// Two upper-case digits a byte.
    mutating func appendHexadecimal(_ value: [UInt8]) {
        for byte in value {
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
            }
        }
    }

    /// 36 characters, as Core Data writes UUIDs.
    mutating func append(uuid: [UInt8]) {
        for (position, byte) in uuid.enumerated() {
            if [4, 6, 8, 10].contains(position) { bytes.append(UInt8(ascii: "-")) }
            appendHexadecimal([byte])
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

extension RandomStream {
    /// 16 bytes of a random UUID (RFC 9562, version 4).
    mutating func nextUUID() -> [UInt8] {
        var uuid: [UInt8] = []
        uuid.reserveCapacity(16)
        for _ in 0..<2 {
            let bits = next()
            for shift in stride(from: 56, through: 0, by: -8) {
                uuid.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
            }
        }
        uuid[6] = uuid[6] & 0x0f | 0x40
        uuid[8] = uuid[8] & 0x3f | 0x80
        return uuid
    }
}
