/// What the page engine was promised to reach, beside what was measured; medians of the rounds' ratios.
extension PagesReport {
    struct Target: Encodable {
        let what: String
        /// As in the promise: `≥ 6`.
        let promised: String
        let measured: Double
        let isMet: Bool

        /// At most so much.
        init(_ what: String, atMost limit: Double, _ measured: Double) {
            (self.what, promised) = (what, "≤ \(limit)")
            (self.measured, isMet) = (measured.rounded3, measured <= limit)
        }

        /// At least so many times as fast, given the ratio of the times.
        init(_ what: String, timesAsFast limit: Double, _ ratio: Double) {
            (self.what, promised) = (what, "≥ \(limit)")
            (measured, isMet) = ((1 / ratio).rounded3, 1 / ratio >= limit)
        }
    }

    /// Those whose works were measured, for every size.
    var targets: [Target] {
        groups.flatMap(\.targets) + timePerByte
    }

    /// The largest against the smallest store.
    private var timePerByte: [Target] {
        let groups = groups.filter { $0.job == .a }
        guard let small = groups.first, let large = groups.last, small.store.bytes < large.store.bytes else {
            return []
        }
        return [VerificationChoice.none, .quick].compactMap { verification in
            guard let first = small.line(.pages, verification)?.series.seconds,
                let last = large.line(.pages, verification)?.series.seconds, first > 0, last > 0
            else { return nil }
            let ratio = last / Double(large.store.bytes) / (first / Double(small.store.bytes))
            let sizes = "\(large.store.bytes.megabytes) MB against \(small.store.bytes.megabytes) MB"
            return Target("a, pages --verify \(verification.rawValue): time per byte, \(sizes)", atMost: 1.1, ratio)
        }
    }

    var targetTable: String {
        var table = TextColumns(["target", "promised", "measured", ""])
        for target in targets {
            table.add([target.what, target.promised, "\(target.measured)", target.isMet ? "met" : "missed"])
        }
        return targets.isEmpty ? "" : "\n\(table.text)"
    }
}

extension PagesReport.Group {
    fileprivate typealias Target = PagesReport.Target

    fileprivate var targets: [Target] {
        switch job {
        case .a: bySQL(unchecked: 6, asDelivered: 3.5)
        case .a1: bySQL(unchecked: 5, asDelivered: 2.5)
        case .b, .c: byCopy(unchecked: 1.3, asDelivered: 1.8)
        case .d: byOneStep
        case .e: byCopy(unchecked: 0.1, asDelivered: 0.15) + diskOfChangedTable
        }
    }

    private func name(_ line: PagesReport.Line, _ base: String) -> String {
        "\(job.rawValue), \(store.bytes.megabytes) MB, \(line.entrant.label) against \(base)"
    }

    private func each(
        unchecked: Double, asDelivered: Double, _ make: (PagesReport.Line, Double) -> Target?
    ) -> [Target] {
        [(VerificationChoice.none, unchecked), (.quick, asDelivered)].compactMap { verification, limit in
            line(.pages, verification).flatMap { make($0, limit) }
        }
    }

    private func bySQL(unchecked: Double, asDelivered: Double) -> [Target] {
        each(unchecked: unchecked, asDelivered: asDelivered) { line, limit in
            line.toSQL.map { Target(name(line, "SQL by hand, times as fast"), timesAsFast: limit, $0.median) }
        }
    }

    private func byCopy(unchecked: Double, asDelivered: Double) -> [Target] {
        each(unchecked: unchecked, asDelivered: asDelivered) { line, limit in
            line.toCopy.map { Target(name(line, "a durable cp"), atMost: limit, $0.median) }
        }
    }

    private var byOneStep: [Target] {
        lines.filter { $0.entrant.steps == 40 }.compactMap { line in
            line.toOneStep.map { Target(name(line, "one step, 40 of \(line.entrant.change)"), atMost: 1.2, $0.median) }
        }
    }

    private var diskOfChangedTable: [Target] {
        guard let table = store.changedTableBytes, table > 0 else { return [] }
        return each(unchecked: 2, asDelivered: 2) { line, limit in
            line.series.outcomes.map(\.diskBytes).max().map {
                Target(
                    name(line, "the changed table: disk beside the store"), atMost: limit, Double($0) / Double(table))
            }
        }
    }
}
