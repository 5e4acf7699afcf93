import Causeway

/// A verification as a person reads it.
struct VerificationText {
    let verification: StoreVerification

    var lines: [String] {
        var lines = [
            fact("Store", verification.store), fact("Version", version),
            fact("Rows", examined ? Figures.grouped(verification.rowCount) : "not examined"),
            fact("Indexes", verification.comparedIndexes ? "compared with the rows" : "not compared (--quick)"),
        ]
        if verification.isSound {
            lines += ["", examined ? "Nothing is wrong." : "Nothing is wrong with what could be examined."]
        } else {
            lines += ["", Figures.count(verification.findings.count, "finding", "findings")]
            lines += verification.findings.map { "  - \($0.message)" }
        }
        if !verification.notes.isEmpty {
            lines += ["", "Notes"] + verification.notes.map { "  - \($0.message)" }
        }
        return lines
    }

    private var examined: Bool { verification.modelOrigin != .unknown }

    private func fact(_ name: String, _ value: String) -> String { name.padded(to: 20) + value }

    private var version: String {
        if !verification.versions.isEmpty { return verification.versions.joined(separator: ", or the equal ") }
        let cache =
            examined ? "the store's own cache holds its model" : "the store has no usable cache of its model either"
        return verification.models == nil ? "not looked up (--models); \(cache)" : "none of the models'; \(cache)"
    }
}
