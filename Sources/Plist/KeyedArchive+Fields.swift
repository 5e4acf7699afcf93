// Fields of instances, and plain values out of them.

extension KeyedArchive {
    /// The value of an instance's field; `nil` when the field is absent, `.null` when it holds null.
    ///
    /// Archivers leave out a flag that is false and a number that is zero (InsideStoreFormat §8), so absence is normal.
    /// Throws `typeMismatch` when the reference leads to no instance.
    package func field(_ name: String, of reference: Reference) throws(PropertyListError) -> ArchivedValue? {
        guard let object = try storedField(name, of: reference) else { return nil }
        return try value(of: object, at: reference)
    }

    /// The names of an instance's fields in file order, `$class` left out; empty if it isn't an instance.
    package func fieldNames(of reference: Reference) -> [String] {
        guard archivedClass(of: reference) != nil,
            case .dictionary(let keys, _) = list.object(at: Int(reference.index), in: entries)
        else { return [] }
        return (0..<keys.count).compactMap { position in
            guard case .string(let name) = list.object(at: position, in: keys), name != "$class" else { return nil }
            return name
        }
    }

    /// A field as it's stored, with a UID not followed.
    func storedField(_ name: String, of reference: Reference) throws(PropertyListError) -> BinaryPropertyList.Object? {
        guard archivedClass(of: reference) != nil else {
            throw PropertyListError(
                .typeMismatch, "The field “\(name)” was looked for in something that isn't an instance of a class.",
                at: place(of: reference))
        }
        return list.value(of: name, in: list.object(at: Int(reference.index), in: entries))
    }

    /// A string, `NSString` and `NSMutableString` instances included; `nil` for an absent field and for null.
    ///
    /// Throws `typeMismatch` for anything else.
    package func string(_ value: ArchivedValue?) throws(PropertyListError) -> String? {
        switch value {
        case nil, .null: return nil
        case .string(let text): return text
        case .object(let reference) where archivedClass(of: reference)?.isKind(of: "NSString") == true:
            // NS.bytes is what NSString's own coder writes when it isn't asked by NSKeyedArchiver.
            switch try firstField(["NS.string", "NS.bytes"], of: reference) {
            case .string(let text): return text
            case .data(let bytes):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw PropertyListError(.malformed, "A string's bytes aren't UTF-8.", at: place(of: reference))
                }
                return text
            default: throw mismatch("a string", .object(reference))
            }
        case .some(let other): throw mismatch("a string", other)
        }
    }

    /// A truth value; an integer counts as true unless 0, as for `NSNumber`. `nil` for an absent field and for null.
    package func boolean(_ value: ArchivedValue?) throws(PropertyListError) -> Bool? {
        switch try number(value) {
        case nil, .null: return nil
        case .boolean(let flag): return flag
        case .integer(let number): return number != 0
        case .some(let other): throw mismatch("a boolean", other)
        }
    }

    /// An integer; a boolean counts as 0 or 1, as for `NSNumber`. `nil` for an absent field and for null.
    package func integer(_ value: ArchivedValue?) throws(PropertyListError) -> Int64? {
        switch try number(value) {
        case nil, .null: return nil
        case .boolean(let flag): return flag ? 1 : 0
        case .integer(let number): return number
        case .some(let other): throw mismatch("an integer", other)
        }
    }

    /// A real number; integers are converted. `nil` for an absent field and for null.
    package func real(_ value: ArchivedValue?) throws(PropertyListError) -> Double? {
        switch try number(value) {
        case nil, .null: return nil
        case .boolean(let flag): return flag ? 1 : 0
        case .integer(let number): return Double(number)
        case .unsigned(let number): return Double(number)
        case .real(let number): return number
        case .some(let other): throw mismatch("a number", other)
        }
    }

    /// Data, `NSData` and `NSMutableData` instances included. `nil` for an absent field and for null.
    package func data(_ value: ArchivedValue?) throws(PropertyListError) -> [UInt8]? {
        switch value {
        case nil, .null: return nil
        case .data(let bytes): return bytes
        case .object(let reference) where archivedClass(of: reference)?.isKind(of: "NSData") == true:
            guard case .data(let bytes)? = try firstField(["NS.data", "NS.bytes"], of: reference) else {
                throw mismatch("data", .object(reference))
            }
            return bytes
        case .some(let other): throw mismatch("data", other)
        }
    }

    /// A plain number out of an `NSNumber` instance (`NS.boolval`, `NS.intval`, `NS.dblval`, `NS.number`); every other
    /// value as it is.
    private func number(_ value: ArchivedValue?) throws(PropertyListError) -> ArchivedValue? {
        guard case .object(let reference)? = value, let kind = archivedClass(of: reference),
            kind.isKind(of: "NSNumber"), !kind.isKind(of: "NSDecimalNumber")
        else { return value }
        let inner = try firstField(["NS.number", "NS.boolval", "NS.intval", "NS.dblval"], of: reference)
        guard let inner, inner.reference == nil else { throw mismatch("a number", .object(reference)) }
        return inner
    }

    /// The first of several fields that's there: Foundation's classes have changed their keys over time.
    private func firstField(_ names: [String], of reference: Reference) throws(PropertyListError) -> ArchivedValue? {
        for name in names { if let value = try field(name, of: reference) { return value } }
        return nil
    }

    func mismatch(_ wanted: String, _ value: ArchivedValue) -> PropertyListError {
        let found =
            switch value {
            case .object(let reference): "an instance of \(className(of: reference) ?? "no class")"
            case .null: "null"
            case .boolean: "a boolean"
            case .integer, .unsigned: "an integer"
            case .real: "a real"
            case .date: "a date"
            case .data: "data"
            case .string: "a string"
            case .list: "an inline array"
            }
        let place = value.reference.map(place(of:))
        return PropertyListError(.typeMismatch, "Expected \(wanted), found \(found).", at: place)
    }
}
