import CausewayPlatform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// JSON as the tool writes it: camel-case keys in alphabetical order, so that two runs compare line by line.
enum JSONText {
    /// For people and programs: indented.
    static func document(_ value: some Encodable) throws -> String {
        try encode(value, [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
    }

    /// One line of JSON lines.
    static func line(_ value: some Encodable) throws -> String {
        try encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func encode(_ value: some Encodable, _ format: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = format
        // A rate over zero time isn't a JSON number.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Characters that must not reach a terminal, in JSON's own escapes: the encoder leaves them as they are. They
    /// occur in strings only, so the whole text can be searched.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnprintable) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            guard scalar.isUnprintable else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }
}
