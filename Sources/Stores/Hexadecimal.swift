/// Bytes as digits.
package enum Hexadecimal {
    package static func text(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// nil where the text isn't an even number of hexadecimal digits.
    package static func bytes(_ text: String) -> [UInt8]? {
        var result: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let first = high {
                result.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return high == nil ? result : nil
    }
}
