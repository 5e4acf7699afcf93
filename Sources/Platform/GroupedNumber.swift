extension Int {
    /// The number as people read it: `1,234,567`.
    package var grouped: String {
        let digits = String(magnitude)
        var result = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return self < 0 ? "-" + result : result
    }
}
