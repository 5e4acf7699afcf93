/// Text from a store as a message holds it: valid, and not too long.
///
/// SQLite's messages quote names and bytes of the file, and a damaged or hostile file may hold anything, terminal
/// escape sequences included (InsideCrashSafety §2.1). Whoever shows a message escapes them, once: a terminal needs
/// other escapes than JSON.
enum EscapedText {
    /// Longest text in bytes that is kept; the rest is cut and marked. Otherwise a `CREATE TABLE` of 500 columns would
    /// fill the report.
    static let maximumLength = 2_000

    static func of(cString: UnsafePointer<CChar>) -> String {
        var bytes: [UInt8] = []
        var cursor = unsafe cString
        while unsafe cursor.pointee != 0, bytes.count <= maximumLength {
            bytes.append(UInt8(bitPattern: unsafe cursor.pointee))
            unsafe cursor += 1
        }
        return of(bytes)
    }

    static func of(_ text: String) -> String {
        of(Array(text.utf8.prefix(maximumLength + 1)))
    }

    /// Valid UTF-8 stays; else every byte outside ASCII becomes `\xNN`.
    static func of(_ bytes: [UInt8]) -> String {
        let isCut = bytes.count > maximumLength
        var kept = bytes[...]
        if isCut {
            kept = bytes.prefix(maximumLength)
            // Not through the middle of a character.
            while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
            if let last = kept.last, last >= 0xC0 { kept.removeLast() }
        }
        var result = ""
        if let text = String(validating: kept, as: UTF8.self) {
            result = text
        } else {
            for byte in kept {
                if byte >= 0x20, byte < 0x7F {
                    result.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }
            }
        }
        return isCut ? result + "…" : result
    }
}
