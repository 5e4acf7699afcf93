/// Base64 with padding and without line breaks, as Core Data writes digests and checksums (version-hash.md §1).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= 8 * UInt32(3 - group.count)
            for position in 0..<4 {
                let index = Int(bits >> UInt32(18 - 6 * position) & 63)
                text.append(position <= group.count ? alphabet[index] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a base64 text; white space is skipped. nil for any other character and for a wrong length.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var paddings = 0
        for character in text.utf8 where ![0x20, 0x09, 0x0A, 0x0D].contains(character) {
            if character == padding {
                paddings += 1
            } else {
                guard paddings == 0, let value = alphabet.firstIndex(of: character) else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            count += 1
            if count.isMultiple(of: 4) {
                guard paddings <= 2 else { return nil }
                bits <<= 6 * UInt32(paddings)
                for position in 0..<(3 - paddings) {
                    bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * position)))
                }
                bits = 0
            }
        }
        return count.isMultiple(of: 4) ? bytes : nil
    }
}
