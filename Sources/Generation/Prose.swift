/// A stock of sentences from which long texts are cut: composing each separately would cost more than writing its row.
struct Prose {
    static let shared = Prose(sentences: 4_096)

    private let bytes: [UInt8]
    /// Where each sentence begins; the end of the last at the end.
    private let starts: [Int]

    /// The stock is the same for every seed; where a text begins in it is not.
    private init(sentences: Int) {
        var random = RandomStream(stream: 0, key: 0)
        var text = TextComposer()
        var starts = [0]
        for _ in 0..<sentences {
            text.appendTitle(words: 4 + random.next(below: 10), &random)
            text.append(random.next(below: 8) == 0 ? ".\n" : ". ")
            starts.append(text.bytes.count)
        }
        bytes = text.bytes
        self.starts = starts
    }

    /// Appends whole sentences of `length` bytes or a little more; at most what the stock holds.
    func append(length: Int, to target: inout [UInt8], _ random: inout RandomStream) {
        var first = random.next(below: starts.count - 1)
        // Near the end there may be too little left.
        if starts[first] + length > bytes.count { first /= 2 }
        let start = starts[first]
        var (low, high) = (first + 1, starts.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] >= start + length { high = middle } else { low = middle + 1 }
        }
        // Without the blank after the last sentence.
        target.append(contentsOf: bytes[start..<starts[low] - 1])
    }
}
