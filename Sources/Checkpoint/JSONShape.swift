/// Bounds of a JSON text, found by one pass over its bytes before a decoder builds anything of it.
enum JSONShape {
    /// Refuses a text that is too long or too deep, isn't UTF-8, or doesn't begin with an object.
    ///
    /// Decoders also take UTF-16 and UTF-32, in which a bracket may look like part of a text here: bytes that could be
    /// either are refused.
    static func check(_ bytes: [UInt8], limit: Int, nesting: Int) throws(CheckpointError) {
        guard bytes.count <= limit else {
            throw CheckpointError(
                .tooLarge, "The record has \(bytes.count) bytes, more than the \(limit) that such a record may have.")
        }
        guard bytes.first == UInt8(ascii: "{"), !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil
        else {
            throw CheckpointError(
                .notAContainer, "The bytes aren't a Causeway record: they aren't a JSON object in UTF-8.")
        }
        guard depth(of: bytes) <= nesting else {
            throw CheckpointError(
                .tooLarge,
                "The record nests more than \(nesting) objects and arrays; no record of Causeway does. It is "
                    + "damaged or made by something else.")
        }
    }

    /// The most objects and arrays that are open at once. Brackets in texts don't count.
    private static func depth(of bytes: [UInt8]) -> Int {
        var open = 0
        var deepest = 0
        var isInText = false
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if isInText {
                isEscaped = byte == UInt8(ascii: "\\")
                if byte == UInt8(ascii: "\"") { isInText = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    open += 1
                    deepest = max(deepest, open)
                // The decoder refuses unbalanced brackets.
                case UInt8(ascii: "}"), UInt8(ascii: "]"): open = max(0, open - 1)
                default: break
                }
            }
        }
        return deepest
    }
}
