/// Points in time as texts of ISO 8601, in UTC.
package enum UTCText {
    private static let secondsOfDay: Int64 = 86_400

    /// `2026-11-25T22:52:07Z`; without leap seconds, as file systems count.
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let second = (seconds % secondsOfDay + secondsOfDay) % secondsOfDay
        let date = date(ofDay: (seconds - second) / secondsOfDay)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(fourDigits(date.year))-\(twoDigits(date.month))-\(twoDigits(date.day))T\(clock)Z"
    }

    /// The Gregorian date of a day, counted from 1970-01-01. Years begin in March here, so that the leap day is the
    /// last (http://howardhinnant.github.io/date_algorithms.html#civil_from_days).
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From 0000-03-01; an era has 400 years.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            year + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func fourDigits(_ number: Int64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }
}
