package import CausewayPlist

extension Constant {
    /// Decodes an archived value: what a constant expression holds, and an attribute's default.
    ///
    /// An instance of a class that the language doesn't know becomes `foreign`. Sets become arrays. Throws
    /// `ExpressionArchiveError` for damage and for nesting past `ExpressionLimits`.
    package init(archive: KeyedArchive, value: ArchivedValue) throws(ExpressionArchiveError) {
        var unarchiver = ExpressionUnarchiver(archive)
        self = try unarchiver.constant(value, at: .null)
    }

    /// Decodes what a reference leads to; see `init(archive:value:)`.
    package init(archive: KeyedArchive, at reference: KeyedArchive.Reference) throws(ExpressionArchiveError) {
        let value: ArchivedValue
        do { value = try archive.value(at: reference) } catch { throw ExpressionArchiveError(error) }
        try self.init(archive: archive, value: value)
    }
}

extension ExpressionUnarchiver {
    mutating func constant(
        _ value: ArchivedValue, at owner: Reference
    ) throws(ExpressionArchiveError) -> Constant {
        switch value {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        // No 64-bit attribute holds it; a decimal does.
        case .unsigned(let value): return .decimal(String(value))
        case .real(let value): return .real(value)
        case .date(let seconds): return .date(seconds)
        case .data(let bytes): return .data(bytes)
        case .string(let text): return .string(text)
        case .list: return .array(try elements(value, at: owner))
        case .object(let reference):
            return try nested(reference) { (unarchiver) throws(ExpressionArchiveError) in
                try unarchiver.constantByClass(reference)
            }
        }
    }

    private mutating func constantByClass(_ reference: Reference) throws(ExpressionArchiveError) -> Constant {
        let value = ArchivedValue.object(reference)
        guard let kind = archive.archivedClass(of: reference) else { throw malformed("has no class", reference) }
        do {
            if kind.isKind(of: "NSNull") { return .null }
            if kind.isKind(of: "NSString"), let text = try archive.string(value) { return .string(text) }
            if kind.isKind(of: "NSDecimalNumber"), let decimal = try archive.decimal(value) {
                return .decimal(decimal.description)
            }
            if kind.isKind(of: "NSNumber") { return try number(value) }
            if kind.isKind(of: "NSDate"), let seconds = try archive.date(value) { return .date(seconds) }
            if kind.isKind(of: "NSData"), let bytes = try archive.data(value) { return .data(bytes) }
            if kind.isKind(of: "NSUUID"), let bytes = try archive.uuid(value) { return .uuid(bytes) }
            if kind.isKind(of: "NSURL"), let url = try archive.url(value) {
                // A relative URL has no meaning in a store, and only Foundation can join it.
                return url.base.isNull ? .uri(url.relative) : .foreign(className: kind.name)
            }
        } catch { throw ExpressionArchiveError(error) }
        if kind.isKind(of: "NSArray") || kind.isKind(of: "NSSet") || kind.isKind(of: "NSOrderedSet") {
            return .array(try elements(value, at: reference))
        }
        if kind.isKind(of: "NSDictionary") { return .dictionary(try entries(value)) }
        return .foreign(className: kind.name)
    }

    /// An `NSNumber` that was archived as an instance, which NSKeyedArchiver itself doesn't do.
    private func number(_ value: ArchivedValue) throws(PropertyListError) -> Constant {
        guard let reference = value.reference else { return .null }
        for name in ["NS.number", "NS.boolval", "NS.intval"] {
            switch try archive.field(name, of: reference) {
            case .boolean(let flag): return .boolean(flag)
            case .integer(let number): return .integer(number)
            default: continue
            }
        }
        return .real(try archive.real(value) ?? 0)
    }

    private mutating func elements(
        _ value: ArchivedValue, at owner: Reference
    ) throws(ExpressionArchiveError) -> [Constant] {
        let items: [ArchivedValue]
        do { items = try archive.array(value) ?? [] } catch { throw ExpressionArchiveError(error) }
        try count(items.count, at: owner)
        var constants: [Constant] = []
        for item in items { constants.append(try constant(item, at: owner)) }
        return constants
    }

    private mutating func entries(_ value: ArchivedValue) throws(ExpressionArchiveError) -> [Constant.DictionaryEntry] {
        let pairs: [(key: String, value: ArchivedValue)]
        do { pairs = try archive.dictionary(value) ?? [] } catch { throw ExpressionArchiveError(error) }
        try count(pairs.count, at: value.reference ?? .null)
        var entries: [Constant.DictionaryEntry] = []
        for pair in pairs {
            entries.append(Constant.DictionaryEntry(key: pair.key, value: try constant(pair.value, at: .null)))
        }
        return entries.sorted { $0.key < $1.key }
    }
}
