/// The frame of a `-wal` that each page of a database is in.
package struct FrameNumbers: Sendable {
    /// Pages of a group, which takes memory once one of them is in the log: 4 KiB.
    private static let groupLength = 1_024
    /// By page; empty for groups without one.
    private var groups: [[UInt32]] = []

    /// - Returns: the frame, counted from 1; nil where the page is in none.
    package subscript(page: Int) -> Int? {
        let group = page / Self.groupLength
        guard page >= 0, group < groups.count, !groups[group].isEmpty else { return nil }
        let frame = groups[group][page % Self.groupLength]
        return frame == 0 ? nil : Int(frame)
    }

    /// Notes where a page is now; 0 for nowhere.
    ///
    /// - Returns: the frame before; 0 for none.
    @discardableResult
    mutating func set(_ frame: UInt32, for page: UInt32) -> UInt32 {
        let (group, place) = Int(page).quotientAndRemainder(dividingBy: Self.groupLength)
        if group >= groups.count { groups += Array(repeating: [], count: group + 1 - groups.count) }
        if groups[group].isEmpty { groups[group] = Array(repeating: 0, count: Self.groupLength) }
        let before = groups[group][place]
        groups[group][place] = frame
        return before
    }
}
