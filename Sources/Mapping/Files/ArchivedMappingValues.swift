import CausewayExpressions
package import CausewayPlist

/// Decodes the expressions and user infos of one mapping model, and counts their parts against the limit.
struct ArchivedMappingValues {
    private var parts = 0

    /// An archive of its own with an expression at its root; nil where the root is null.
    mutating func expression(archived bytes: [UInt8]) throws(MappingFileError) -> Expression? {
        let archive = try Self.archive(bytes)
        return archive.root == .null ? nil : try expression(archive, archive.root)
    }

    mutating func expression(
        _ archive: KeyedArchive, _ reference: KeyedArchive.Reference
    ) throws(MappingFileError) -> Expression {
        let expression = try MappingFileError.wrapping { try Expression(archive: archive, at: reference) }
        var count = 0
        expression.visit { _ in count += 1 }
        try charge(count)
        return expression
    }

    /// An archive of its own with a dictionary at its root; empty where the root is null.
    mutating func userInfo(archived bytes: [UInt8]) throws(MappingFileError) -> [String: Constant] {
        let archive = try Self.archive(bytes)
        let root: ArchivedValue
        do { root = try archive.value(at: archive.root) } catch { throw MappingFileError(error) }
        return try userInfo(archive, root)
    }

    /// A dictionary with string keys; empty for null and for an absent one.
    mutating func userInfo(
        _ archive: KeyedArchive, _ value: ArchivedValue?
    ) throws(MappingFileError) -> [String: Constant] {
        let entries = try MappingFileError.wrapping { try archive.dictionary(value) ?? [] }
        try charge(entries.count)
        var result: [String: Constant] = [:]
        for entry in entries {
            try MappingFileError.wrapping {
                result[entry.key] = try Constant(archive: archive, value: entry.value)
            }
        }
        return result
    }

    static func archive(_ bytes: [UInt8]) throws(MappingFileError) -> KeyedArchive {
        try MappingFileError.wrapping { try KeyedArchive(parsing: bytes) }
    }

    private mutating func charge(_ count: Int) throws(MappingFileError) {
        parts += count
        guard parts <= MappingFileLimits.expressionParts else {
            throw MappingFileError(
                .limitExceeded,
                "The mapping model's expressions have more than \(MappingFileLimits.expressionParts) parts, more "
                    + "than any written by hand.")
        }
    }
}

extension MappingFileError {
    /// Reads a part of an archive.
    static func wrapping<Value>(_ body: () throws -> Value) throws(MappingFileError) -> Value {
        do {
            return try body()
        } catch let error as PropertyListError {
            throw MappingFileError(error)
        } catch let error as ExpressionArchiveError {
            throw MappingFileError(error)
        } catch {
            throw MappingFileError(.damaged, "\(error)")
        }
    }

    package init(_ error: PropertyListError) {
        self.init(error.code == .limitExceeded ? .limitExceeded : .damaged, "The archive can't be read: \(error).")
    }

    init(_ error: ExpressionArchiveError) {
        let code: Code =
            switch error.code {
            case .unknownClass, .unsupported: .unsupported
            case .limitExceeded, .archive(.limitExceeded): .limitExceeded
            case .malformed, .archive: .damaged
            }
        self.init(code, "The archive can't be read: \(error).")
    }
}
