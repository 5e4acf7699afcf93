import Causeway
import CausewayPlatform

/// A salvage as a person reads it.
struct SalvageText {
    let summary: SalvageSummary

    private static let namedPages = 20

    var lines: [String] {
        var lines = [
            "\(summary.output.onOneLine): \(Figures.count(summary.rowCount, "row", "rows")) out of "
                + Figures.count(summary.pages, "page", "pages")
        ]
        var table = TextTable([
            ("ENTITY", .leading), ("ROWS", .trailing), ("RECOVERED", .trailing), ("DELETED", .trailing),
        ])
        for entity in summary.entities {
            table.add(
                entity.name, Figures.grouped(entity.rows), Figures.grouped(entity.recovered),
                Figures.grouped(entity.deleted))
        }
        if !table.isEmpty { lines += table.lines }
        lines += listed(
            summary.entities.compactMap { entity in
                entity.copiesFile.map {
                    "\(entity.name): \(Figures.count(entity.copies, "row", "rows")) whose key another has, in \($0)"
                }
            }, under: "Copies, or rows with damaged keys")
        lines += listed(
            summary.entities.compactMap { entity in
                entity.incompleteFile.map {
                    "\(entity.name): \(Figures.count(entity.incomplete, "row", "rows")) as far as they are there, in \($0)"
                }
            }, under: "Rows that aren't whole")
        lines += listed(
            summary.links.map { "\($0.relationship): \(Figures.count($0.rows, "link", "links")) in \($0.file)" },
            under: "Links")
        lines += listed(summary.damage.map(sentence), under: "Damage")
        lines += listed(rest, under: "Left out")
        if isSound { lines.append("No table has damage that shows in its pages.") }
        return lines + summary.warnings.map { "warning: \($0)" }
    }

    /// Whether nothing but whole rows of sound trees was found, and nothing else is told.
    private var isSound: Bool {
        summary.damage.isEmpty && summary.unmatchedRows == 0 && summary.warnings.isEmpty
            && summary.entities.allSatisfy { $0.recovered + $0.copies + $0.incomplete == 0 }
    }

    private func sentence(_ damage: SalvageSummary.Damage) -> String {
        var parts: [String] = []
        if damage.brokenRows > 0 {
            parts.append(
                Figures.count(damage.brokenRows, "broken row", "broken rows") + " on " + pages(damage.brokenPages))
        }
        if !damage.unreadablePages.isEmpty { parts.append("can't be read: " + pages(damage.unreadablePages)) }
        let name = damage.entity.map { "\($0) (\(damage.table))" } ?? damage.table
        return "\(name): " + parts.joined(separator: "; ")
    }

    private func pages(_ numbers: [Int]) -> String {
        let named = numbers.prefix(Self.namedPages).map(String.init).joined(separator: ", ")
        return (numbers.count == 1 ? "page " : "pages ") + named + (numbers.count > Self.namedPages ? ", …" : "")
    }

    private var rest: [String] {
        var rest: [String] = []
        if summary.unmatchedRows > 0 {
            rest.append(
                Figures.count(summary.unmatchedRows, "row", "rows")
                    + " of unknown tables, or not whole, in pages that no table reaches")
        }
        let identical =
            summary.entities.reduce(0) { $0 + $1.identicalCopies } + summary.links.reduce(0) { $0 + $1.identicalCopies }
        if identical > 0 {
            rest.append(
                Figures.count(identical, "row", "rows") + " with the key and the content of one that was written")
        }
        if summary.olderCopies > 0 {
            rest.append(
                Figures.count(summary.olderCopies, "older copy", "older copies")
                    + " in free pages of rows that were read elsewhere")
        }
        return rest
    }
}
