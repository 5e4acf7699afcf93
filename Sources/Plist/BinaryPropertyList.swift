/// A binary property list (`bplist00`) as the table of objects that the file holds.
///
/// Containers keep references, so a shared object stays shared and a cycle does no harm. Objects may not overlap in
/// the file; memory is therefore bounded by a small multiple of its size.
package struct BinaryPropertyList: Sendable {
    /// A run in the table of references. Read it with `list.references(in:)`.
    package struct ReferenceRange: Hashable, Sendable {
        let start: UInt32
        package let count: Int
    }

    package enum Object: Hashable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        /// Only for values above `Int64.max`.
        case unsigned(UInt64)
        case real(Double)
        /// Seconds since 2001-01-01 00:00:00 UTC.
        case date(Double)
        case data([UInt8])
        case string(String)
        case uid(UInt64)
        case array(ReferenceRange)
        case set(ReferenceRange)
        /// Both runs have the same count; a key is any object here, `tree()` and `KeyedArchive` demand strings.
        case dictionary(keys: ReferenceRange, values: ReferenceRange)
    }

    /// Every object of the file; never empty.
    package let objects: [Object]
    /// The index of the top object.
    package let root: Int
    /// The references of all containers, each a valid index of `objects`.
    let references: [UInt32]

    /// Parses a whole file.
    ///
    /// Throws `notBinaryPropertyList`, `malformed`, `unsupported` or `limitExceeded`.
    package init(parsing bytes: [UInt8]) throws(PropertyListError) {
        var parser = try BinaryPropertyListParser(bytes)
        try parser.parseObjects()
        self.objects = parser.objects
        self.references = parser.references
        self.root = parser.root
    }

    /// The indices in `objects` that a container refers to.
    package func references(in range: ReferenceRange) -> ArraySlice<UInt32> {
        references[Int(range.start)..<(Int(range.start) + range.count)]
    }

    /// The object that the container refers to at a position below the range's count.
    package func object(at position: Int, in range: ReferenceRange) -> Object {
        objects[Int(references[Int(range.start) + position])]
    }

    /// The value of a string key in a dictionary object; `nil` when absent or when the object isn't a dictionary.
    ///
    /// The first of several equal keys wins, as it does for Foundation's decoder.
    package func value(of key: String, in object: Object) -> Object? {
        guard case .dictionary(let keys, let values) = object else { return nil }
        for position in 0..<keys.count {
            if case .string(let name) = self.object(at: position, in: keys), name == key {
                return self.object(at: position, in: values)
            }
        }
        return nil
    }
}
