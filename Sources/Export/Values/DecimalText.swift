/// Numbers in plain decimal notation, as `NSDecimalNumber` prints them.
package enum DecimalText {
    /// The shortest digits that read back as the same number: `0.00001` rather than `1e-05`, `12` rather than `12.0`.
    package static func plain(_ value: Double) -> String {
        let text = "\(value)"
        let parts = text.split(separator: "e")
        let sign = text.hasPrefix("-") ? "-" : ""
        guard value.isFinite, let number = parts.first?.drop(while: { $0 == "-" }) else { return text }
        let halves = number.split(separator: ".")
        let whole = halves.first.map(String.init) ?? "0"
        let fraction = halves.count > 1 && halves[1] != "0" ? String(halves[1]) : ""
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let digits = whole + fraction
        let point = whole.count + exponent
        if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
        if point >= digits.count { return sign + digits + String(repeating: "0", count: point - digits.count) }
        return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }
}
