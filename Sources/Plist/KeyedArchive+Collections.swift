// Foundation's collections as they lie in an archive.

extension KeyedArchive {
    /// The elements of an array, a set, an ordered set or an inline list, in stored order.
    ///
    /// `nil` for an absent field and for null; throws `typeMismatch` for anything else. Elements that are instances
    /// stay references, so that no foreign nesting is followed.
    package func array(_ value: ArchivedValue?) throws(PropertyListError) -> [ArchivedValue]? {
        switch value {
        case nil, .null: return nil
        case .list(let items): return try elements(of: items)
        case .object(let reference):
            guard let kind = archivedClass(of: reference),
                kind.isKind(of: "NSArray") || kind.isKind(of: "NSSet") || kind.isKind(of: "NSOrderedSet")
            else { throw mismatch("an array or a set", .object(reference)) }
            if let stored = try storedField("NS.objects", of: reference) {
                return try elements(of: inlineList(stored, in: reference))
            }
            return try numberedElements(of: reference)
        case .some(let other): throw mismatch("an array or a set", other)
        }
    }

    /// The entries of a dictionary with string keys, in stored order; `NSKnownKeysDictionary1` included.
    ///
    /// `nil` for an absent field and for null; throws `typeMismatch` for another value or for a key that isn't a
    /// string.
    package func dictionary(
        _ value: ArchivedValue?
    ) throws(PropertyListError) -> [(key: String, value: ArchivedValue)]? {
        guard let pairs = try pairs(value) else { return nil }
        var entries: [(key: String, value: ArchivedValue)] = []
        entries.reserveCapacity(pairs.count)
        for pair in pairs {
            guard let key = try string(pair.key) else {
                throw PropertyListError(
                    .malformed, "A dictionary has a null key.", at: value?.reference.map(place(of:)))
            }
            entries.append((key, pair.value))
        }
        return entries
    }

    /// The entries of a dictionary whatever its keys are; see `dictionary(_:)`.
    package func pairs(
        _ value: ArchivedValue?
    ) throws(PropertyListError) -> [(key: ArchivedValue, value: ArchivedValue)]? {
        switch value {
        case nil, .null: return nil
        case .object(let reference):
            guard let kind = archivedClass(of: reference), kind.isKind(of: "NSDictionary") else {
                throw mismatch("a dictionary", .object(reference))
            }
            if try storedField("searchMapping", of: reference) != nil {
                return try knownKeysPairs(of: reference)
            }
            guard let storedKeys = try storedField("NS.keys", of: reference),
                let storedValues = try storedField("NS.objects", of: reference)
            else {
                throw PropertyListError(.malformed, "A dictionary has no keys or values.", at: place(of: reference))
            }
            let keys = try inlineList(storedKeys, in: reference)
            let values = try inlineList(storedValues, in: reference)
            return try zip(elements(of: keys), elements(of: values), in: reference)
        case .some(let other): throw mismatch("a dictionary", other)
        }
    }

    /// `searchMapping.keys` beside `values`. A slot that holds the empty token has no entry.
    private func knownKeysPairs(
        of reference: Reference
    ) throws(PropertyListError) -> [(key: ArchivedValue, value: ArchivedValue)] {
        guard case .object(let mapping)? = try field("searchMapping", of: reference) else {
            throw PropertyListError(.malformed, "A known-keys dictionary has no mapping.", at: place(of: reference))
        }
        guard let keys = try array(field("keys", of: mapping)), let values = try array(field("values", of: reference))
        else {
            throw PropertyListError(
                .malformed, "A known-keys dictionary has no keys or values.", at: place(of: reference))
        }
        let pairs = try zip(keys, values, in: reference)
        guard let token = try field("emptyToken", of: reference), !token.isNull else { return pairs }
        return pairs.filter { $0.value != token }
    }

    private func zip(
        _ keys: [ArchivedValue], _ values: [ArchivedValue], in reference: Reference
    ) throws(PropertyListError) -> [(key: ArchivedValue, value: ArchivedValue)] {
        guard keys.count == values.count else {
            throw PropertyListError(
                .malformed, "A dictionary has \(keys.count) keys but \(values.count) values.", at: place(of: reference))
        }
        return Swift.zip(keys, values).map { (key: $0.0, value: $0.1) }
    }

    private func elements(of items: InlineList) throws(PropertyListError) -> [ArchivedValue] {
        var values: [ArchivedValue] = []
        values.reserveCapacity(items.range.count)
        for position in 0..<items.range.count {
            values.append(try value(of: list.object(at: position, in: items.range), at: .null))
        }
        return values
    }

    private func inlineList(
        _ stored: BinaryPropertyList.Object, in reference: Reference
    ) throws(PropertyListError) -> InlineList {
        guard case .array(let range) = stored else {
            throw PropertyListError(.malformed, "A collection's elements aren't a list.", at: place(of: reference))
        }
        return InlineList(range: range)
    }

    /// `NS.object.0`, `NS.object.1`, …: how `NSOrderedSet` is archived.
    private func numberedElements(of reference: Reference) throws(PropertyListError) -> [ArchivedValue] {
        var values: [ArchivedValue] = []
        while let value = try field("NS.object.\(values.count)", of: reference) { values.append(value) }
        return values
    }
}
