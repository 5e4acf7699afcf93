import Causeway
import CausewayPlatform

/// The status of a migration as a person reads it.
package struct StatusText {
    let status: MigrationStatus

    package init(status: MigrationStatus) {
        self.status = status
    }

    package var lines: [String] {
        guard status.state != .none else { return ["\(status.store.onOneLine): no migration is running or unfinished"] }
        var lines = ["Store       \(status.store.onOneLine)", "State       \(state)"]
        if !status.path.isEmpty { lines.append("Version     \(status.path.joined(separator: " → "))") }
        if status.state == .running {
            lines.append(
                "Step        \(status.step) of \(status.stepCount): \(status.versions.joined(separator: " → "))")
            if let station = status.station { lines.append("At          \(station)") }
            if let fraction = status.fraction {
                let rest = status.remainingSeconds.map { ", about \(Figures.clock($0)) left" }
                let unknown = status.processID == nil ? "" : ", estimating the time left"
                lines.append("Done        \(Int(fraction * 100)) %\(rest ?? unknown)")
            }
        }
        if let checkpoint = status.checkpoints.last {
            let age = checkpoint.ageSeconds.map { ", \(Figures.seconds($0)) ago" } ?? ""
            let share =
                status.totalRows > 0
                ? " of about \(Figures.grouped(status.totalRows)) "
                    + "(\(Int(min(1, Double(status.rows) / Double(status.totalRows)) * 100)) %)" : ""
            lines += [
                "Rows        \(Figures.grouped(status.rows))\(share), \(Figures.bytes(status.bytes)) read",
                "Checkpoint  \(Figures.grouped(checkpoint.sequence)), \(Figures.bytes(checkpoint.bytes))\(age)",
            ]
        } else if status.state == .running {
            lines.append("Checkpoint  none of this step yet")
        }
        lines.append("Disk        \(Figures.bytes(status.workBytes)) in \(status.workDirectory.onOneLine)")
        return lines + advice
    }

    private var state: String {
        switch status.state {
        case .none: return "nothing to do"
        case .starting, .running:
            if let process = status.processID { return "\(activity), process \(process)" }
            return "not running; it ended while \(activity)"
        case .swapping: return "the new store is complete and about to take its place" + process
        case .swapped: return "the new store is in place, its work directory is left" + process
        }
    }

    private var process: String { status.processID.map { ", process \($0)" } ?? ", not running" }

    private var activity: String {
        switch status.phase {
        case "check": "checking the store"
        case "rows": "moving rows"
        case "relationships": "relating rows"
        case "validation": "validating rows"
        case "indexes": "making indexes"
        case "verification": "verifying the new store"
        case "swap": "putting the new store in place"
        case let phase?: "in “\(phase)”"
        case nil: status.state == .starting ? "starting" : "moving rows"
        }
    }

    private var advice: [String] {
        guard status.processID == nil else { return [] }
        switch status.state {
        case .none: return []
        case .starting: return ["", "Run the migration again: it starts over."]
        case .running, .swapping: return ["", "Run the same migration again: it resumes."]
        case .swapped: return ["", "Run the same migration again: it removes the work directory."]
        }
    }
}
