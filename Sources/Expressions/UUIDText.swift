/// UUIDs as `NSUUID` spells them: `8-4-4-4-12` hexadecimal digits.
package enum UUIDText {
    private static let hyphen = UInt8(ascii: "-")

    /// Upper case with hyphens.
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(hyphen) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 16 bytes, whatever the digits' case; nil if it isn't a UUID.
    package static func bytes(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count == 36, [8, 13, 18, 23].allSatisfy({ characters[$0] == hyphen }) else { return nil }
        let digits = characters.filter { $0 != hyphen }
        return digits.count == 32 ? CastLiteral.bytes(ofHexadecimal: digits) : nil
    }
}
