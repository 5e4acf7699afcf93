/// The frame of a `-wal` that each page of a database is in.
package struct FrameNumbers: Sendable {
    /// Pages of a group, which takes memory once one of them is in the log: less than a frame, whatever numbers the
    /// frames have.
    private static let groupLength: UInt32 = 64
    private var groups: [UInt32: [UInt32]] = [:]

    /// - Returns: the frame, counted from 1; nil where the page is in none.
    package subscript(page: Int) -> Int? {
        guard let page = UInt32(exactly: page),
            let frame = groups[page / Self.groupLength]?[Int(page % Self.groupLength)], frame != 0
        else { return nil }
        return Int(frame)
    }

    /// Notes where a page is now; 0 for nowhere.
    ///
    /// - Returns: the frame before; 0 for none.
    @discardableResult
    mutating func set(_ frame: UInt32, for page: UInt32) -> UInt32 {
        let (group, place) = (page / Self.groupLength, Int(page % Self.groupLength))
        guard let before = groups[group]?[place] else {
            groups[group] = [UInt32](repeating: 0, count: Int(Self.groupLength))
            groups[group]?[place] = frame
            return 0
        }
        groups[group]?[place] = frame
        return before
    }
}
