/// Base64 with padding: written without line breaks, as digests and checksums are (InsideVersionHashes §1), and read
/// with white space in between, as XML stores and property lists have it.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// By byte; 255 for a byte that isn't a digit.
    private static let digits: [UInt8] = {
        var digits = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { digits[Int(character)] = UInt8(value) }
        return digits
    }()

    package static func encode(_ bytes: [UInt8]) -> String {
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

    /// The bytes of a base64 text. nil for a foreign character, for one after the padding, and for a text with an
    /// incomplete group.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        var paddings = 0
        for character in text.utf8 {
            if character == 0x20 || (0x09...0x0D).contains(character) { continue }
            let digit = digits[Int(character)]
            if digit == 255 {
                guard character == padding, paddings < 2 else { return nil }
                paddings += 1
                bits <<= 6
            } else {
                guard paddings == 0 else { return nil }
                bits = bits << 6 | UInt32(digit)
            }
            count += 1
            guard count.isMultiple(of: 4) else { continue }
            for position in 0..<(3 - paddings) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * position)))
            }
            bits = 0
        }
        return count.isMultiple(of: 4) ? bytes : nil
    }
}
