internal import Foundation

/// The reports as a text table: one line for each harness, its own figures below it.
package struct ReportTable {
    private let reports: [HarnessReport]

    package init(_ reports: [HarnessReport]) {
        self.reports = reports
    }

    private static let heads = ["HARNESS", "TRIED", "DIFFERENT", "SURVIVED", "FAILED", "ROWS LOST", "SECONDS"]

    package var lines: [String] {
        var rows = [Self.heads] + reports.map(Self.row)
        rows.append(
            Self.row(
                HarnessReport(
                    result: reports.reduce(into: HarnessResult(name: "all")) { $0.add($1.result) },
                    seconds: reports.reduce(0) { $0 + $1.seconds })))
        let widths = Self.heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + space : space + row[column]
            }.joined(separator: "  ")
        }
        for report in reports { lines += Self.remarks(report) }
        return lines
    }

    private static func row(_ report: HarnessReport) -> [String] {
        let result = report.result
        return [
            result.name, "\(result.tried)", "\(result.different)", "\(result.survived)", "\(result.failed)",
            "\(result.rowsLost)", String(format: "%.1f", report.seconds),
        ]
    }

    /// What else a harness counted, what it skipped, and what failed.
    private static func remarks(_ report: HarnessReport) -> [String] {
        let result = report.result
        var lines: [String] = []
        if !result.details.isEmpty {
            let figures = result.details.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            lines.append("\(result.name): \(figures.joined(separator: ", "))")
        }
        lines += report.skipped.map { "\(result.name): SKIPPED \($0)" }
        lines += result.failures.map { "\(result.name): FAILED \($0)" }
        let more = result.failed - result.failures.count
        if more > 0 { lines.append("\(result.name): FAILED and \(more) more") }
        return lines
    }
}
