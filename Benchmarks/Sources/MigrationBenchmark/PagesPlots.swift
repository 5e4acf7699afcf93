import Foundation

extension PagesReport {
    /// Writes what there is so far, one file a plot, over those of an earlier run.
    func plot(in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in plots {
            try text.write(to: folder.appendingPathComponent("\(name).svg"), atomically: true, encoding: .utf8)
        }
    }

    private var plots: [(name: String, text: String)] {
        Job.allCases.flatMap { job in
            let groups = groups.filter { $0.job == job }
            guard let largest = groups.last else { return [(name: String, text: String)]() }
            if job == .d { return [("pages-\(job.rawValue)-steps", largest.stepPlot)] }
            return [
                ("pages-\(job.rawValue)-size", sizePlot(job, groups)),
                ("pages-\(job.rawValue)-phases", largest.phasePlot),
            ]
        }
    }

    private func sizePlot(_ job: Job, _ groups: [Group]) -> String {
        let curves = (groups.last?.lines ?? []).map { line in
            let points = groups.compactMap { group in
                group.line(line.entrant.contender, line.entrant.verification).map {
                    (x: Double(group.store.bytes) / 1e9, y: $0.series.seconds)
                }
            }
            return Plot.Curve(name: line.entrant.label, points: points)
        }
        return Plot.lines(
            curves.filter { $0.points.contains { $0.y > 0 } }, title: "\(job.rawValue): \(job.title)", x: "store, GB",
            y: "seconds")
    }
}

extension PagesReport.Group {
    fileprivate var stepPlot: String {
        let kinds = lines.filter { $0.entrant.steps == 1 && $0.entrant.contender.engine != nil }.map(\.entrant)
        let curves = kinds.map { kind in
            let points = lines.filter {
                $0.entrant.contender == kind.contender && $0.entrant.verification == kind.verification
                    && $0.entrant.change == kind.change
            }
            return Plot.Curve(
                name: "\(kind.label), \(kind.change)",
                points: points.map { (x: Double($0.entrant.steps), y: $0.series.seconds) })
        }
        return Plot.lines(
            curves.filter { !$0.points.isEmpty }, title: "\(job.rawValue): \(job.title), \(size)", x: "steps",
            y: "seconds")
    }

    /// What a migration does when; other programs don't tell.
    fileprivate var phasePlot: String {
        let bars = lines.filter { !$0.series.outcomes.isEmpty }.map { line in
            let phases = line.series.phases.filter { $0.seconds > 0 }.map { (name: $0.name, value: $0.seconds) }
            let rest = max(0, line.series.seconds - phases.reduce(0) { $0 + $1.value })
            // Of a migration: its program's start and end.
            let name = phases.isEmpty ? "other programs" : "start and end"
            return Plot.Bar(name: line.entrant.label, parts: phases + [(name: name, value: rest)])
        }
        return Plot.bars(bars, title: "\(job.rawValue): \(job.title), \(size)", x: "seconds by phase")
    }

    private var size: String { "\(store.bytes.megabytes) MB" }
}
