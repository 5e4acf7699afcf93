/// Bytes of the files that a run writes beside the new store, when a step was done.
package struct SideFileMarks: Codable, Hashable, Sendable {
    package var rejects: Int64 = 0
    package var keyMap: Int64 = 0
}
