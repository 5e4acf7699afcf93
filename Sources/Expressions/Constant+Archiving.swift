package import CausewayPlist

extension Constant {
    /// Writes the value as Foundation archives it; what `init(archive:at:)` reads. Null is the null reference.
    ///
    /// Throws `unsupported` for a foreign object, whose contents aren't known, and `malformed` for a decimal that's no
    /// number and for a UUID that doesn't have 16 bytes.
    package func archive(
        into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        switch self {
        case .null: return .null
        case .boolean(let value): return writer.boolean(value)
        case .integer(let value): return writer.integer(value)
        case .real(let value): return writer.real(value)
        case .string(let text): return writer.string(text)
        case .date(let seconds): return writer.date(seconds)
        case .data(let bytes): return writer.data(bytes)
        case .decimal(let text):
            guard let decimal = DecimalText(text) else {
                throw ExpressionArchiveError(.malformed, "“\(text)” isn't a decimal number: write it like -12.50.")
            }
            return decimal.archive(into: &writer)
        case .uuid(let bytes):
            guard bytes.count == 16 else {
                throw ExpressionArchiveError(.malformed, "A UUID has 16 bytes, not \(bytes.count).")
            }
            return writer.add(ArchivedClass(["NSUUID", "NSObject"]), [("NS.uuidbytes", .data(bytes))])
        case .uri(let text):
            let relative = writer.string(text)
            return writer.add(
                ArchivedClass(["NSURL", "NSObject"]), [("NS.base", .null), ("NS.relative", .reference(relative))])
        case .array(let values):
            var items: [KeyedArchiveWriter.Reference] = []
            for value in values { items.append(try value.archiveElement(into: &writer)) }
            return writer.array(items)
        case .dictionary(let entries):
            var pairs: [(key: KeyedArchiveWriter.Reference, value: KeyedArchiveWriter.Reference)] = []
            for entry in entries {
                let key = writer.string(entry.key)
                pairs.append((key, try entry.value.archiveElement(into: &writer)))
            }
            return writer.dictionary(pairs)
        case .foreign(let className):
            throw ExpressionArchiveError(
                .unsupported, "A value of the app's class \(className) can't be written: its contents aren't known.")
        }
    }

    /// Collections hold no null reference; `NSNull` stands for it.
    private func archiveElement(
        into writer: inout KeyedArchiveWriter
    ) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference {
        self == .null ? writer.add(ArchivedClass(["NSNull", "NSObject"]), []) : try archive(into: &writer)
    }
}

extension DecimalText {
    /// An `NSDecimalNumber`: 16-bit words of the significand, least significant first, in little-endian order.
    fileprivate func archive(into writer: inout KeyedArchiveWriter) -> KeyedArchiveWriter.Reference {
        var words: [UInt8] = []
        var length: Int64 = 0
        for index in 0..<8 {
            let word = UInt16(truncatingIfNeeded: significand >> (16 * index))
            words.append(UInt8(truncatingIfNeeded: word))
            words.append(UInt8(truncatingIfNeeded: word >> 8))
            if word != 0 { length = Int64(index) + 1 }
        }
        return writer.add(
            ArchivedClass(["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"]),
            [
                ("NS.exponent", .integer(Int64(exponent))), ("NS.length", .integer(length)),
                ("NS.negative", .boolean(isNaN || (isNegative && length > 0))), ("NS.compact", .boolean(true)),
                ("NS.mantissa.bo", .integer(1)), ("NS.mantissa", .data(words)),
            ])
    }
}
