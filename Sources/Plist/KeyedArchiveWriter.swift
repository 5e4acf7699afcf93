/// Builds an `NSKeyedArchiver` archive, object by object.
///
/// Equal strings, numbers and class descriptions are stored once. An object that others refer to before it is
/// complete is reserved first and filled later, so cycles can be written. The bytes depend on the calls alone.
package struct KeyedArchiveWriter {
    package typealias Reference = KeyedArchive.Reference

    /// What an instance's field holds.
    package enum Field: Hashable, Sendable {
        /// A reference; `.reference(.null)` for null.
        case reference(Reference)
        /// References in a list, as `NS.objects` has them.
        case references([Reference])
        // Inline, as `encodeBool`, `encodeInteger` and `encodeDouble` do; what `encodeObject` stores is a reference.
        case boolean(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case data([UInt8])

        package static let null = Field.reference(.null)
    }

    private enum Entry {
        case reserved
        case value(PropertyList)
    }

    private var entries: [Entry] = [.value(.string(KeyedArchive.nullText))]
    private var plain: [ScalarIdentity: Reference] = [:]
    private var classes: [ArchivedClass: Reference] = [:]

    package init() {}

    // MARK: - Plain values

    package mutating func string(_ text: String) -> Reference { intern(.string(text)) }

    /// An `NSNumber` object that holds an integer.
    package mutating func integer(_ value: Int64) -> Reference { intern(.integer(value)) }

    /// An `NSNumber` object that holds a truth value.
    package mutating func boolean(_ value: Bool) -> Reference { intern(.boolean(value)) }

    /// An `NSNumber` object that holds a real.
    package mutating func real(_ value: Double) -> Reference { intern(.real(value)) }

    package mutating func data(_ bytes: [UInt8]) -> Reference { intern(.data(bytes)) }

    /// An `NSDate` object; seconds since 2001-01-01 00:00:00 UTC.
    package mutating func date(_ seconds: Double) -> Reference {
        add(ArchivedClass(["NSDate", "NSObject"]), [("NS.time", .real(seconds))])
    }

    // MARK: - Instances

    /// A place for an object that's filled later with `fill(_:_:_:)`.
    package mutating func reserve() -> Reference { append(.reserved) }

    package mutating func add(_ kind: ArchivedClass, _ fields: [(name: String, value: Field)]) -> Reference {
        let reference = reserve()
        fill(reference, kind, fields)
        return reference
    }

    /// Fills a reserved object. Filling one twice, or naming a field twice, is a programmer's error.
    package mutating func fill(
        _ reference: Reference, _ kind: ArchivedClass, _ fields: [(name: String, value: Field)]
    ) {
        guard case .reserved = entries[Int(reference.index)] else {
            preconditionFailure("Object \(reference.index) is not reserved.")
        }
        var dictionary: [String: PropertyList] = ["$class": .uid(UInt64(description(of: kind).index))]
        for field in fields {
            let previous = dictionary.updateValue(Self.propertyList(field.value), forKey: field.name)
            precondition(previous == nil, "The field \(field.name) is given twice.")
        }
        entries[Int(reference.index)] = .value(.dictionary(dictionary))
    }

    // MARK: - The archive

    /// The finished archive.
    ///
    /// Throws `incomplete` when a reserved object was never filled or a reference belongs to another archive, and what
    /// `BinaryPropertyListWriter` throws.
    package func bytes(root: Reference) throws(PropertyListError) -> [UInt8] {
        var objects: [PropertyList] = []
        objects.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            guard case .value(let value) = entry else {
                throw PropertyListError(.incomplete, "The object was reserved but never filled.", at: "object \(index)")
            }
            try check(value, in: index)
            objects.append(value)
        }
        guard Int(root.index) < entries.count else {
            throw PropertyListError(.incomplete, "The root belongs to another archive.")
        }
        return try BinaryPropertyListWriter.bytes(
            of: .dictionary([
                "$archiver": .string("NSKeyedArchiver"),
                "$version": .integer(100_000),
                "$top": .dictionary(["root": .uid(UInt64(root.index))]),
                "$objects": .array(objects),
            ]))
    }

    private func check(_ value: PropertyList, in index: Int) throws(PropertyListError) {
        guard case .dictionary(let fields) = value else { return }
        for field in fields.values {
            for item in field.array ?? [field] {
                if case .uid(let target) = item, target >= UInt64(entries.count) {
                    throw PropertyListError(
                        .incomplete, "A field refers to an object of another archive.", at: "object \(index)")
                }
            }
        }
    }

    private mutating func append(_ entry: Entry) -> Reference {
        let reference = Reference(index: UInt32(entries.count))
        entries.append(entry)
        return reference
    }

    private mutating func intern(_ value: PropertyList) -> Reference {
        let identity = ScalarIdentity(value)
        if let known = plain[identity] { return known }
        let reference = append(.value(value))
        plain[identity] = reference
        return reference
    }

    /// The class entry: `{$classname, $classes}`.
    private mutating func description(of kind: ArchivedClass) -> Reference {
        if let known = classes[kind] { return known }
        let reference = append(
            .value(
                .dictionary([
                    "$classname": .string(kind.name),
                    "$classes": .array(kind.hierarchy.map { .string($0) }),
                ])))
        classes[kind] = reference
        return reference
    }

    private static func propertyList(_ field: Field) -> PropertyList {
        switch field {
        case .reference(let target): .uid(UInt64(target.index))
        case .references(let targets): .array(targets.map { .uid(UInt64($0.index)) })
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .string(let value): .string(value)
        case .data(let value): .data(value)
        }
    }
}
