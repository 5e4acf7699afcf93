import CausewayPlatform

/// The time of day as events have it.
package enum Timestamp {
    /// Now, as ISO 8601 in UTC with milliseconds.
    package static var now: String {
        text(secondsSince1970: WallClock.secondsSinceReferenceDate() + WallClock.referenceDate)
    }

    /// `2026-11-25T23:13:05.123Z`
    package static func text(secondsSince1970 seconds: Double) -> String {
        let (quotient, remainder) = Int64((seconds * 1_000).rounded()).quotientAndRemainder(dividingBy: 1_000)
        let (whole, rest) = remainder < 0 ? (quotient - 1, remainder + 1_000) : (quotient, remainder)
        let digits = String(rest)
        let fraction = String(repeating: "0", count: 3 - digits.count) + digits
        return UTCText.text(secondsSince1970: whole).dropLast() + ".\(fraction)Z"
    }
}
