extension TextComposer {
    mutating func compose(
        _ kind: ValueRecipe.TextKind, bounds: ValueBounds?, isUnique: Bool, key: Int, _ random: inout RandomStream
    ) {
        clear()
        switch kind {
        case .title:
            appendTitle(words: 1 + random.next(below: 4), &random)
            if isUnique { appendNumber(key, after: " ") }
        case .prose:
            appendProse(length: TextComposer.proseLength(&random), &random)
            if isUnique { appendNumber(key, after: " ") }
        case .identifier:
            append(RandomUUID(&random))
        case .color:
            append("#")
            for _ in 0..<3 { appendHexadecimal(random.nextByte()) }
            if isUnique { appendNumber(key, after: "-") }
        case .isbn:
            append("978")
            if isUnique { appendPadded(key) } else { appendDigits(10, &random) }
        case .email:
            appendWord(&random)
            appendNumber(isUnique ? key : random.next(below: 10_000), after: ".")
            append("@example.org")
        case .address:
            append("https://example.org/")
            appendWord(&random)
            appendNumber(isUnique ? key : random.next(below: 10_000), after: "/")
        }
        if let bounds { fit(bounds, isUnique: isUnique, key: key) }
    }

    /// About log-normal: mostly some hundred bytes, seldom more than a page of the file.
    private static func proseLength(_ random: inout RandomStream) -> Int {
        // The sum of three draws is bell-shaped.
        let exponent = random.next(below: 4) + random.next(below: 4) + random.next(below: 4)
        let size = 12 << exponent
        return min(size, 8_192) + random.next(below: min(size, 8_192))
    }

    private mutating func appendNumber(_ number: Int, after separator: StaticString) {
        append(separator)
        append(decimal: number)
    }

    private mutating func appendPadded(_ number: Int) {
        let digits = Array(String(number).utf8)
        append([UInt8](repeating: UInt8(ascii: "0"), count: max(0, 10 - digits.count)))
        append(digits)
    }

    private mutating func fit(_ bounds: ValueBounds, isUnique: Bool, key: Int) {
        if let most = bounds.mostLength {
            if isUnique, characterCount > most {
                clear()
                append(decimal: key)
            } else {
                truncate(toCharacters: max(0, most))
            }
        }
        if let least = bounds.leastLength {
            // A sane model asks for a few characters; the cap keeps an insane one from filling the memory.
            let missing = min(least, 1 << 20) - characterCount
            if missing > 0 { append([UInt8](repeating: UInt8(ascii: "x"), count: missing)) }
        }
    }

    private var characterCount: Int { bytes.count { $0 & 0xc0 != 0x80 } }
}
