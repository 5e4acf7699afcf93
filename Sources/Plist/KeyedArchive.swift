/// An `NSKeyedArchiver` archive: objects that refer to each other by number.
///
/// Nothing is instantiated: the archive stays a table, classes are names, and every question is answered from the
/// table. Shape: `{$version: 100000, $archiver: NSKeyedArchiver, $top: {root: UID}, $objects: [...]}`, see
/// InsideStoreFormat §8. References are checked once, when parsing.
package struct KeyedArchive: Sendable {
    /// The number of an object in `$objects`; 0 is null.
    package struct Reference: Hashable, Sendable {
        package let index: UInt32
        package static let null = Reference(index: 0)
    }

    /// An array that's stored inside an object's field.
    package struct InlineList: Hashable, Sendable {
        let range: BinaryPropertyList.ReferenceRange
    }

    static let nullText = "$null"

    let list: BinaryPropertyList
    /// `$objects`.
    let entries: BinaryPropertyList.ReferenceRange
    /// Per object: its class's position in `classes` plus 1, or 0 for a plain value.
    private let classNumbers: [UInt32]
    private let classes: [ArchivedClass]
    /// `$top.root`.
    package let root: Reference

    /// The number of objects, the null object included.
    package var count: Int { entries.count }

    /// Parses an archive and checks its frame, every reference, and the class of every instance.
    ///
    /// Throws `notKeyedArchive`, and what `BinaryPropertyList.init(parsing:)` throws.
    package init(parsing bytes: [UInt8]) throws(PropertyListError) {
        let list = try BinaryPropertyList(parsing: bytes)
        let top = list.objects[list.root]
        guard list.value(of: "$archiver", in: top) == .string("NSKeyedArchiver"),
            list.value(of: "$version", in: top) == .integer(100_000)
        else {
            throw PropertyListError(
                .notKeyedArchive, "The property list is not an NSKeyedArchiver archive of version 100000.")
        }
        guard case .array(let entries)? = list.value(of: "$objects", in: top), entries.count > 0,
            list.object(at: 0, in: entries) == .string(Self.nullText)
        else {
            throw PropertyListError(.notKeyedArchive, "The archive has no list of objects that begins with $null.")
        }
        guard let names = list.value(of: "$top", in: top), case .uid(let root)? = list.value(of: "root", in: names)
        else {
            throw PropertyListError(.notKeyedArchive, "The archive names no root object.")
        }
        for (index, object) in list.objects.enumerated() {
            if case .uid(let target) = object, target >= UInt64(entries.count) {
                throw PropertyListError(
                    .malformed, "A reference leads to object \(target), but the archive has \(entries.count) objects.",
                    at: "property list object \(index)")
            }
        }
        var index = ClassIndex(list: list, entries: entries)
        try index.build()
        self.list = list
        self.entries = entries
        self.classNumbers = index.numbers
        self.classes = index.classes
        self.root = Reference(index: UInt32(root))
    }

    /// The reference to an object by its number below `count`; `nil` outside.
    package func reference(at index: Int) -> Reference? {
        (0..<count).contains(index) ? Reference(index: UInt32(index)) : nil
    }

    /// The class of an instance; `nil` for null, plain values and references of another archive.
    package func archivedClass(of reference: Reference) -> ArchivedClass? {
        let index = Int(reference.index)
        guard index < classNumbers.count, classNumbers[index] > 0 else { return nil }
        return classes[Int(classNumbers[index]) - 1]
    }

    /// The name of an instance's class; `nil` for null and plain values.
    package func className(of reference: Reference) -> String? { archivedClass(of: reference)?.name }

    /// What a reference leads to.
    ///
    /// Throws `malformed` for what no archiver stores as an object (a bare array or dictionary), `typeMismatch` for
    /// a reference of another archive.
    package func value(at reference: Reference) throws(PropertyListError) -> ArchivedValue {
        let index = Int(reference.index)
        guard index > 0 else { return .null }
        guard index < entries.count else {
            throw PropertyListError(.typeMismatch, "The reference \(index) belongs to another archive.")
        }
        if classNumbers[index] > 0 { return .object(reference) }
        switch list.object(at: index, in: entries) {
        case .array, .set, .dictionary, .uid:
            throw PropertyListError(.malformed, "The object has no class.", at: place(of: reference))
        case let plain:
            return try value(of: plain, at: reference)
        }
    }

    /// The value that an object of the property list stands for, UIDs followed.
    func value(of object: BinaryPropertyList.Object, at reference: Reference) throws(PropertyListError) -> ArchivedValue
    {
        switch object {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .real(let value): return .real(value)
        case .date(let value): return .date(value)
        case .data(let value): return .data(value)
        case .string(let value): return .string(value)
        // Checked when parsing: below the count of objects. No loop: an object that is itself a UID is refused.
        case .uid(let target): return try self.value(at: Reference(index: UInt32(target)))
        case .array(let items): return .list(InlineList(range: items))
        case .set, .dictionary:
            throw PropertyListError(
                .malformed, "A field holds a property list container, which no archiver writes.",
                at: place(of: reference))
        }
    }

    /// An object's place for error messages.
    package func place(of reference: Reference) -> String {
        "object \(reference.index)" + (className(of: reference).map { " (\($0))" } ?? "")
    }
}

/// Finds the class of every instance once, so that later questions cost an array access.
private struct ClassIndex {
    private let list: BinaryPropertyList
    private let entries: BinaryPropertyList.ReferenceRange
    private(set) var numbers: [UInt32]
    private(set) var classes: [ArchivedClass] = []
    /// From the number of a class entry in `$objects` to its position in `classes` plus 1.
    private var known: [UInt64: UInt32] = [:]

    init(list: BinaryPropertyList, entries: BinaryPropertyList.ReferenceRange) {
        self.list = list
        self.entries = entries
        self.numbers = Array(repeating: 0, count: entries.count)
    }

    mutating func build() throws(PropertyListError) {
        for index in 1..<max(1, entries.count) {
            let object = list.object(at: index, in: entries)
            guard let link = list.value(of: "$class", in: object) else { continue }
            guard case .uid(let target) = link else {
                throw PropertyListError(.malformed, "An instance's class isn't a reference.", at: "object \(index)")
            }
            numbers[index] = try number(ofClassAt: target, for: index)
        }
    }

    private mutating func number(ofClassAt target: UInt64, for index: Int) throws(PropertyListError) -> UInt32 {
        if let number = known[target] { return number }
        let entry = list.object(at: Int(target), in: entries)
        guard case .string(let name)? = list.value(of: "$classname", in: entry),
            case .array(let items)? = list.value(of: "$classes", in: entry)
        else {
            throw PropertyListError(.malformed, "An instance's class has no name.", at: "object \(index)")
        }
        var hierarchy: [String] = []
        for position in 0..<items.count {
            guard case .string(let ancestor) = list.object(at: position, in: items) else {
                throw PropertyListError(.malformed, "A class's superclass has no name.", at: "object \(target)")
            }
            hierarchy.append(ancestor)
        }
        classes.append(ArchivedClass(name: name, hierarchy: hierarchy))
        let number = UInt32(classes.count)
        known[target] = number
        return number
    }
}
