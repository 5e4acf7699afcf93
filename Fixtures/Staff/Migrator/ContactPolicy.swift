import Causeway
import Foundation

/// v1 → v2: what the expressions of `PersonToContact` call. It overrides no hook.
final class ContactPolicy: EntityMigrationPolicy {
    /// The functions look at their arguments alone: a run that was killed goes on between any two rows.
    override class var isResumable: Bool { true }

    override var functions: [String: MigrationFunction] {
        [
            "trimmedPhone:": { arguments, _ in
                guard case .string(let phone)? = arguments.first else { return .null }
                return Self.trimmedPhone(phone).map { .string($0) } ?? .null
            }
        ]
    }

    /// A phone number without white space and line ends around it; nil where nothing is left.
    private static func trimmedPhone(_ phone: String) -> String? {
        let trimmed = phone.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }
}
