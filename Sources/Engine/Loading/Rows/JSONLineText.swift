import CausewayStores

/// Takes the bytes of lines.
protocol LineSink {
    func append(_ bytes: some Sequence<UInt8>) throws(EngineError)
}

extension LineFile: LineSink {}

/// Writes a line of JSON piece by piece.
struct JSONLineText<Sink: LineSink> {
    let sink: Sink

    func base64(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        try text("\"")
        var position = 0
        while position < bytes.count {
            let rest = bytes.count - position
            let group =
                unsafe UInt32(bytes[position]) << 16 | (rest > 1 ? UInt32(bytes[position + 1]) << 8 : 0)
                | (rest > 2 ? UInt32(bytes[position + 2]) : 0)
            for place in 0..<4 {
                let digit = base64Digits[Int(group >> UInt32(18 - 6 * place) & 63)]
                try sink.append(CollectionOfOne(place <= rest ? digit : UInt8(ascii: "=")))
            }
            position += 3
        }
        try text("\"")
    }

    // MARK: - Text

    func text(_ text: String) throws(EngineError) { try sink.append(text.utf8) }

    /// Members with texts as their values.
    func members(_ members: KeyValuePairs<String, String?>, isFirst: Bool = true) throws(EngineError) {
        for (index, member) in members.enumerated() {
            if isFirst, index == 0 { try text("{") }
            try name(member.key, isFirst: isFirst && index == 0)
            if let value = member.value { try string(value) } else { try text("null") }
        }
    }

    func name(_ name: String, isFirst: Bool) throws(EngineError) {
        if !isFirst { try text(",") }
        try string(name)
        try text(":")
    }

    /// JSON has no infinities.
    func number(_ value: Double) throws(EngineError) { try text(value.isFinite ? "\(value)" : "\"\(value)\"") }

    func string(_ text: String) throws(EngineError) {
        try self.text("\"")
        for scalar in text.unicodeScalars { try character(scalar) }
        try self.text("\"")
    }

    /// UTF-8 of a store; damaged parts become U+FFFD.
    func string(_ bytes: UnsafeRawBufferPointer) throws(EngineError) {
        try text("\"")
        var decoder = UTF8()
        var iterator = unsafe bytes.makeIterator()
        decoding: while true {
            switch unsafe decoder.decode(&iterator) {
            case .scalarValue(let scalar): try character(scalar)
            case .error: try character("\u{FFFD}")
            case .emptyInput: break decoding
            }
        }
        try text("\"")
    }

    private func character(_ scalar: Unicode.Scalar) throws(EngineError) {
        switch scalar {
        case "\"": try text("\\\"")
        case "\\": try text("\\\\")
        case "\n": try text("\\n")
        case "\r": try text("\\r")
        case "\t": try text("\\t")
        default:
            guard scalar.value < 0x20 || scalar.value == 0x7F || scalar.value == 0x2028 || scalar.value == 0x2029 else {
                return try sink.append(Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
            }
            let digits = String(scalar.value, radix: 16)
            try text("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }
}

/// Outside of the generic type, which can't keep it.
private let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
