extension FormatPrinter {
    mutating func print(_ constant: Constant) {
        switch constant {
        case .null: append("nil")
        case .boolean(let value):
            // NSNumber prints a boolean as a number.
            append(style == .apple ? (value ? "1" : "0") : (value ? "YES" : "NO"))
        case .integer(let value): append(String(value))
        case .real(let value): print(real: value)
        case .decimal(let value):
            if style == .apple { append(value) } else { printCast(value, "NSDecimalNumber") }
        case .string(let value): print(string: value)
        case .date(let seconds):
            append("CAST(")
            // Foundation prints %f, which drops what is below a microsecond.
            if style == .apple { append(Self.sixPlaces(seconds)) } else { print(real: seconds) }
            append(", \"NSDate\")")
        case .data(let bytes): printCast(CastLiteral.hexadecimal(bytes), "NSData")
        case .uuid(let bytes): printCast(UUIDText.text(bytes), "NSUUID")
        case .uri(let value): printCast(value, "NSURL")
        case .array(let values):
            append("{")
            print(values) { $0.print($1) }
            append("}")
        case .dictionary(let entries):
            append("{")
            print(entries) { printer, entry in
                printer.print(string: entry.key)
                printer.append("=")
                printer.print(entry.value)
            }
            append("}")
        case .foreign(let className):
            append("CAST(nil, ")
            print(string: className)
            append(")")
        }
    }

    private mutating func printCast(_ value: String, _ type: String) {
        append("CAST(")
        print(string: value)
        append(", \"\(type)\")")
    }

    private mutating func print(real value: Double) {
        guard value.isFinite else {
            if style == .apple { append(String(value)) } else { printCast(String(value), "NSNumber") }
            return
        }
        let text = String(value)
        // NSNumber prints 5.0 as 5.
        append(style == .apple && text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    /// `%f`, exact up to 2⁵³ microseconds (285 years); beyond that as far as a double goes.
    private static func sixPlaces(_ value: Double) -> String {
        let whole = value.magnitude.rounded(.towardZero)
        var fraction = ((value.magnitude - whole) * 1_000_000).rounded()
        let carry: Double = fraction >= 1_000_000 ? 1 : 0
        fraction -= carry * 1_000_000
        guard value.isFinite, let digits = UInt64(exactly: whole + carry), let micros = UInt64(exactly: fraction) else {
            return String(value)
        }
        let places = String(micros)
        let sign = value < 0 ? "-" : ""
        return "\(sign)\(digits)." + String(repeating: "0", count: 6 - places.count) + places
    }
}
