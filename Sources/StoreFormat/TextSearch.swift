extension StringProtocol {
    /// Whether the text contains the other, byte by byte: the standard library alone has no such search.
    func hasPart(_ other: String) -> Bool { place(of: other) != nil }

    /// The rest of the text after the first occurrence of the other.
    func afterPart(_ other: String) -> String? {
        place(of: other).map { String(decoding: Array(utf8)[($0 + other.utf8.count)...], as: UTF8.self) }
    }

    private func place(of other: String) -> Int? {
        let (text, part) = (Array(utf8), Array(other.utf8))
        guard let first = part.first else { return 0 }
        guard text.count >= part.count else { return nil }
        return (0...(text.count - part.count)).first {
            text[$0] == first && text[$0..<$0 + part.count].elementsEqual(part)
        }
    }
}
