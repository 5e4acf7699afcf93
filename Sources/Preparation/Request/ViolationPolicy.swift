/// What happens to rows that break a rule of the destination model (`--on-violation`).
package enum ViolationPolicy: String, Hashable, Sendable, CaseIterable {
    /// The migration ends with an error that names the first violations.
    case stop
    /// A value that is missing or out of range becomes the attribute's default; everything else stops.
    case useDefault = "default"
    /// The row is left out and written to the rejects file.
    case reject
}
