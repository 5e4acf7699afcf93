extension StringProtocol {
    /// Whether the text contains the other, byte by byte. The standard library's search of bytes is generic and calls a
    /// closure for each of them: too slow for schemas of megabytes, in which hundreds of names are searched for.
    func hasPart(_ other: String) -> Bool {
        let (text, part) = (Array(utf8), Array(other.utf8))
        guard let first = part.first else { return true }
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains {
            text[$0] == first && text[$0..<$0 + part.count].elementsEqual(part)
        }
    }
}
