/// Puts a text together for one cell, in memory that is used again for the next: `ManagedObject.set(_:building:)` lends
/// it.
public struct TextBuilder: ~Copyable {
    /// Valid UTF-8.
    private(set) var utf8: [UInt8]

    /// `memory` is used again; its content is forgotten.
    init(reusing memory: consuming [UInt8]) {
        utf8 = memory
        utf8.removeAll(keepingCapacity: true)
    }

    /// The memory, for the next text; one of unusual length is given back.
    consuming func released() -> [UInt8] { utf8.capacity <= 1 << 16 ? utf8 : [] }

    /// Adds a text of a row, or a part of one.
    ///
    /// - Parameter text: the text.
    public mutating func append(_ text: TextSpan) {
        unsafe text.utf8.withUnsafeBytes { bytes in unsafe utf8.append(contentsOf: bytes) }
    }

    /// Adds a string.
    ///
    /// - Parameter text: the string.
    public mutating func append(_ text: String) {
        utf8.append(contentsOf: text.utf8)
    }
}
