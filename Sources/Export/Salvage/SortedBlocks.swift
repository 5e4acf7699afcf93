/// Elements in ascending order, in blocks: an insertion anywhere moves the elements of one block at most, so that
/// elements may come in any order.
struct SortedBlocks<Element> {
    /// Where an element is, or the end.
    struct Place {
        let block: Int
        let offset: Int
    }

    private static var blockLength: Int { 512 }

    /// None is empty.
    private var blocks: [[Element]] = []
    private(set) var count = 0

    /// The place of the first element that fulfils a condition, which all after it fulfil too; the end where none does.
    func firstPlace(where isThere: (Element) -> Bool) -> Place {
        let block = Self.first(of: blocks.count) { isThere(blocks[$0][blocks[$0].count - 1]) }
        guard block < blocks.count else { return Place(block: block, offset: 0) }
        return Place(block: block, offset: Self.first(of: blocks[block].count) { isThere(blocks[block][$0]) })
    }

    private static func first(of count: Int, where isThere: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isThere(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    func isEnd(_ place: Place) -> Bool { place.block == blocks.count }

    func place(before place: Place) -> Place? {
        if place.offset > 0 { return Place(block: place.block, offset: place.offset - 1) }
        return place.block > 0 ? Place(block: place.block - 1, offset: blocks[place.block - 1].count - 1) : nil
    }

    /// The element at a place that isn't the end.
    subscript(place: Place) -> Element {
        get { blocks[place.block][place.offset] }
        set { blocks[place.block][place.offset] = newValue }
    }

    /// Inserts before a place.
    mutating func insert(_ element: Element, at place: Place) {
        count += 1
        // What comes before a block's first element ends the block before it: ascending elements fill blocks.
        let isBorder = place.offset == 0 && place.block > 0
        let block = isBorder ? place.block - 1 : place.block
        guard block < blocks.count else { return blocks.append([element]) }
        let offset = isBorder ? blocks[block].count : place.offset
        guard blocks[block].count >= Self.blockLength else { return blocks[block].insert(element, at: offset) }
        if isBorder, place.block < blocks.count, blocks[place.block].count < Self.blockLength {
            return blocks[place.block].insert(element, at: 0)
        }
        guard offset < blocks[block].count else { return blocks.insert([element], at: block + 1) }
        let middle = blocks[block].count / 2
        blocks.insert(Array(blocks[block][middle...]), at: block + 1)
        blocks[block].removeSubrange(middle...)
        if offset <= middle {
            blocks[block].insert(element, at: offset)
        } else {
            blocks[block + 1].insert(element, at: offset - middle)
        }
    }

    mutating func remove(at place: Place) {
        count -= 1
        blocks[place.block].remove(at: place.offset)
        if blocks[place.block].isEmpty { blocks.remove(at: place.block) }
    }
}
