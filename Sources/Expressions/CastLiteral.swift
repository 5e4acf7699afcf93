/// Literals that have no notation of their own and are written as a cast: `CAST(12.5, "NSDate")`.
enum CastLiteral {
    /// The constant for a cast of a literal; nil if the cast happens when it's evaluated.
    static func fold(_ constant: Constant, to type: String) -> Constant? {
        switch (constant, type) {
        case (.integer(let seconds), "NSDate"): return .date(Double(seconds))
        case (.real(let seconds), "NSDate"): return .date(seconds)
        case (.string(let text), "NSNumber") where ["inf", "-inf", "nan"].contains(text):
            return Double(text).map(Constant.real)
        case (.string(let text), "NSDecimalNumber"): return DecimalText(text) == nil ? nil : .decimal(text)
        case (.string(let text), "NSURL"): return .uri(text)
        case (.string(let text), "NSData"): return bytes(ofHexadecimal: Array(text.utf8)).map(Constant.data)
        case (.string(let text), "NSUUID"):
            return UUIDText.bytes(text).flatMap { UUIDText.text($0) == text ? .uuid($0) : nil }
        default: return nil
        }
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(ofHexadecimal digits: [UInt8]) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(Unicode.Scalar(digits[index])).hexDigitValue,
                let low = Character(Unicode.Scalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
