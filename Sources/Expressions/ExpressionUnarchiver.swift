import CausewayPlist

/// Decodes one expression or predicate. Archives share objects; every use of one is decoded again and counted.
///
/// Classes and keys: seen in the models and mapping models of shared/stores; those that aren't there (sets, subqueries,
/// ternaries, aggregates, string operators) after Foundation's own `encodeWithCoder:`.
struct ExpressionUnarchiver {
    typealias Reference = KeyedArchive.Reference

    let archive: KeyedArchive
    private var depth = 0
    private var nodes = 0

    init(_ archive: KeyedArchive) { self.archive = archive }

    // MARK: - Fields

    /// Runs `body` one level deeper, and counts the node.
    mutating func nested<Result>(
        _ reference: Reference,
        _ body: (inout ExpressionUnarchiver) throws(ExpressionArchiveError) -> Result
    ) throws(ExpressionArchiveError) -> Result {
        depth += 1
        defer { depth -= 1 }
        try count(1, at: reference)
        return try body(&self)
    }

    /// Counts parts against the limit; before they're made.
    mutating func count(_ parts: Int, at reference: Reference) throws(ExpressionArchiveError) {
        nodes += parts
        guard depth <= ExpressionLimits.depth, nodes <= ExpressionLimits.archivedNodes else {
            throw error(
                .limitExceeded,
                "The expression has more than \(ExpressionLimits.depth) levels or \(ExpressionLimits.archivedNodes) "
                    + "parts.", reference)
        }
    }

    func field(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> ArchivedValue? {
        do { return try archive.field(name, of: reference) } catch { throw ExpressionArchiveError(error) }
    }

    func string(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> String {
        do {
            if let text = try archive.string(archive.field(name, of: reference)) { return text }
        } catch { throw ExpressionArchiveError(error) }
        throw malformed("has no “\(name)”", reference)
    }

    /// 0 for an absent field: archivers leave a zero out.
    func integer(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> Int {
        do {
            return Int(try archive.integer(archive.field(name, of: reference)) ?? 0)
        } catch { throw ExpressionArchiveError(error) }
    }

    func boolean(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> Bool {
        do {
            return try archive.boolean(archive.field(name, of: reference)) ?? false
        } catch { throw ExpressionArchiveError(error) }
    }

    /// An instance that must be there.
    func instance(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> Reference {
        guard let inner = try field(name, of: reference)?.reference else {
            throw malformed("has no “\(name)”", reference)
        }
        return inner
    }

    /// Instances out of an array or a set; an absent one is empty.
    func instances(_ name: String, of reference: Reference) throws(ExpressionArchiveError) -> [Reference] {
        let values: [ArchivedValue]
        do {
            values = try archive.array(archive.field(name, of: reference)) ?? []
        } catch { throw ExpressionArchiveError(error) }
        var references: [Reference] = []
        references.reserveCapacity(values.count)
        for value in values {
            guard let inner = value.reference else { throw malformed("has a plain value in “\(name)”", reference) }
            references.append(inner)
        }
        return references
    }

    func malformed(_ what: String, _ reference: Reference) -> ExpressionArchiveError {
        let name = archive.className(of: reference) ?? "A plain value"
        return error(.malformed, "\(name) \(what): the archive is damaged.", reference)
    }

    func unknown(_ reference: Reference, _ kind: String) -> ExpressionArchiveError {
        guard let name = archive.className(of: reference) else {
            return error(.malformed, "Expected \(kind), found a plain value.", reference)
        }
        return error(
            .unknownClass, "\(name) isn't a known class of \(kind): write it as a format string instead.", reference)
    }

    func error(
        _ code: ExpressionArchiveError.Code, _ message: String, _ reference: Reference
    ) -> ExpressionArchiveError {
        ExpressionArchiveError(code, message, at: archive.place(of: reference))
    }
}
