/// UTF-8 looked at without a string.
enum TextScalars {
    /// The text in these bytes; nil where they aren't valid UTF-8.
    @unsafe static func text(of bytes: UnsafeRawBufferPointer) -> String? {
        let utf8 = unsafe Span<UInt8>(_unsafeBytes: bytes)
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            return areValid(utf8) ? string(ofValid: utf8) : nil
        }
        return unsafe String(validating: bytes, as: UTF8.self)
    }

    /// The string of bytes that are valid UTF-8. Validating them is most of what a string of some length costs.
    static func string(ofValid utf8: Span<UInt8>) -> String {
        if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
            let isASCII = asciiEnd(of: utf8, from: 0) == utf8.count
            return unsafe String(copying: UTF8Span(unchecked: utf8, isKnownASCII: isASCII))
        }
        return unsafe utf8.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the bytes are valid UTF-8.
    static func areValid(_ utf8: Span<UInt8>) -> Bool {
        var index = asciiEnd(of: utf8, from: 0)
        while index < utf8.count {
            let length = validLength(at: index, of: utf8)
            if length == 0 { return false }
            index = asciiEnd(of: utf8, from: index + length)
        }
        return true
    }

    /// Where the next byte is that isn't ASCII; the number of bytes where there is none.
    private static func asciiEnd(of utf8: Span<UInt8>, from start: Int) -> Int {
        unsafe utf8.withUnsafeBytes { bytes in
            var index = start
            while index + 8 <= bytes.count {
                let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let others = word & 0x8080_8080_8080_8080
                // The lowest byte comes first.
                if others != 0 { return index + others.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < bytes.count, unsafe bytes[index] < 0x80 { index += 1 }
            return index
        }
    }

    /// Bytes of the scalar there; 0 for bytes that aren't one (Unicode 16, table 3-7).
    private static func validLength(at index: Int, of utf8: Span<UInt8>) -> Int {
        let first = utf8[index]
        if first < 0x80 { return 1 }
        let second: ClosedRange<UInt8>
        switch first {
        case 0xC2...0xDF: second = 0x80...0xBF
        case 0xE0: second = 0xA0...0xBF
        case 0xE1...0xEC, 0xEE, 0xEF: second = 0x80...0xBF
        case 0xED: second = 0x80...0x9F
        case 0xF0: second = 0x90...0xBF
        case 0xF1...0xF3: second = 0x80...0xBF
        case 0xF4: second = 0x80...0x8F
        default: return 0
        }
        let length = length(of: first)
        guard index + length <= utf8.count, second.contains(utf8[index + 1]) else { return 0 }
        for next in index + 2..<max(index + 2, index + length) where utf8[next] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Bytes of the scalar that begins with this byte, in valid UTF-8.
    static func length(of first: UInt8) -> Int {
        first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    }

    /// The scalar that begins there, in valid UTF-8.
    static func scalar(at index: Int, of utf8: Span<UInt8>) -> Unicode.Scalar {
        let first = utf8[index]
        let length = length(of: first)
        if length == 1 { return Unicode.Scalar(first) }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for next in index + 1..<index + length { value = value << 6 | UInt32(utf8[next] & 0x3F) }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }
}
