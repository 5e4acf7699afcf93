extension String {
    /// The text of an attribute in `xcmapping.xml`, its `\uXXYY` escapes decoded.
    ///
    /// Xcode writes the two bytes of a UTF-16 code unit in the wrong order: `\u3c00` is `<` (expressions.txt). An
    /// incomplete escape, or one without a character, stays as it is.
    package var unescapingMappingModel: String {
        let bytes = Array(utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            var units: [UInt16] = []
            var end = position
            while let unit = Self.swappedUnit(bytes, at: end) {
                units.append(unit)
                end += 6
            }
            if units.isEmpty {
                result.append(bytes[position])
                position += 1
            } else {
                let text = String(validating: units, as: UTF16.self)
                result.append(contentsOf: text.map { Array($0.utf8) } ?? Array(bytes[position..<end]))
                position = end
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func swappedUnit(_ bytes: [UInt8], at position: Int) -> UInt16? {
        guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt16 = 0
        for byte in bytes[position + 2..<position + 6] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value.byteSwapped
    }
}
