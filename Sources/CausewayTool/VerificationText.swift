import Causeway

/// A verification as a person reads it.
struct VerificationText {
    let verification: StoreVerification

    var lines: [String] {
        var lines = [
            fact("Store", verification.store),
            fact("Version", versionText(verification.versions, verification.models, verification.modelOrigin)),
            fact("Rows", examined ? Figures.grouped(verification.rowCount) : "not examined"),
            fact("Indexes", verification.comparedIndexes ? "compared with the rows" : "not compared"),
            "", verdict,
        ]
        lines += found(.damage, "Damage") + found(.inconsistency, "Inconsistencies that apps tolerate")
        return lines + listed(verification.notes.map(\.message), under: "", "Notes")
    }

    private var verdict: String {
        switch verification.verdict {
        case .damaged: return "The store is damaged."
        case .notExamined:
            return
                "The rows weren't examined: there is no model of the store's version. Give it with --models."
        case .inconsistent: return "The store isn't damaged, but rows break rules."
        case .sound:
            let isComplete = !verification.notes.contains { $0.kind == .notChecked }
            return isComplete ? "Nothing is wrong." : "Nothing is wrong in what could be examined."
        }
    }

    /// Findings of one severity under their heading; damage takes severities that this version doesn't know.
    private func found(_ severity: StoreVerification.Severity, _ heading: String) -> [String] {
        let found = verification.findings.filter { finding in
            finding.severity == severity || (severity == .damage && finding.severity != .inconsistency)
        }
        return listed(found.map(\.message), under: "", heading)
    }

    private var examined: Bool { verification.modelOrigin != .unknown }
}
