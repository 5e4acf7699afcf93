import Foundation

/// What is printed. Megabytes are millions of bytes of the source store.
struct Report: Encodable {
    var machine = Machine()
    var cases: [Case]

    struct Machine: Encodable {
        var system = ProcessInfo.processInfo.operatingSystemVersionString
        var processors = ProcessInfo.processInfo.activeProcessorCount
        var memoryBytes = ProcessInfo.processInfo.physicalMemory
        #if DEBUG
            var build = "debug: these numbers mean nothing"
        #else
            var build = "release"
        #endif
    }

    /// One store.
    struct Case: Encodable {
        var rows: Int
        var links: Int
        var storeBytes: Int
        var copy: Series
        var transfer: Series
        var migrate: Series

        private enum CodingKeys: String, CodingKey {
            case rows, links, storeBytes, rowsPerSecond, megabytesPerSecond, peakMemoryBytes
            case timeRatioToInsertSelect, timeRatioToInsertSelectWithoutChecks, timeRatioToCopy
            case copy = "cp"
            case transfer = "insertSelect"
            case migrate = "causeway"
        }

        /// Phases that a hand-written transfer has no counterpart for.
        private static let checks = ["planning", "check", "verification"]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(rows, forKey: .rows)
            try container.encode(links, forKey: .links)
            try container.encode(storeBytes, forKey: .storeBytes)
            let seconds = migrate.median(\.seconds)
            try container.encode(Int(Double(rows + links) / seconds), forKey: .rowsPerSecond)
            try container.encode((Double(storeBytes) / 1e6 / seconds).rounded3, forKey: .megabytesPerSecond)
            try container.encode(migrate.peakMemoryBytes, forKey: .peakMemoryBytes)
            try container.encode(ratio(to: transfer) { $0.seconds }, forKey: .timeRatioToInsertSelect)
            try container.encode(
                ratio(to: transfer) { outcome in
                    outcome.seconds - Self.checks.reduce(0) { $0 + (outcome.phases[$1] ?? 0) }
                }, forKey: .timeRatioToInsertSelectWithoutChecks)
            try container.encode(ratio(to: copy) { $0.seconds }, forKey: .timeRatioToCopy)
            try container.encode(copy, forKey: .copy)
            try container.encode(transfer, forKey: .transfer)
            try container.encode(migrate, forKey: .migrate)
        }

        /// The median of the rounds' own ratios: what slows a whole round down cancels out.
        private func ratio(to other: Series, _ seconds: (Outcome) -> Double) -> Double {
            let ratios = zip(migrate.outcomes, other.outcomes).map { seconds($0) / $1.seconds }
            return ratios.median.rounded3
        }
    }

    /// One kind of work over all rounds.
    struct Series: Encodable {
        let outcomes: [Outcome]

        init(_ outcomes: [Outcome]) {
            self.outcomes = outcomes
        }

        /// The largest of all rounds.
        var peakMemoryBytes: Int? { outcomes.compactMap(\.peakMemoryBytes).max() }

        func median(_ value: (Outcome) -> Double) -> Double { outcomes.map(value).median }

        private enum CodingKeys: String, CodingKey {
            case seconds, median, processorSeconds, savingSeconds, peakMemoryBytes, phases
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(outcomes.map(\.seconds.rounded3), forKey: .seconds)
            try container.encode(median(\.seconds).rounded3, forKey: .median)
            let processor = outcomes.compactMap { $0.processorSeconds?.rounded3 }
            if !processor.isEmpty { try container.encode(processor, forKey: .processorSeconds) }
            let saving = outcomes.compactMap(\.savingSeconds)
            if !saving.isEmpty { try container.encode(saving, forKey: .savingSeconds) }
            try container.encodeIfPresent(peakMemoryBytes, forKey: .peakMemoryBytes)
            let names = Set(outcomes.flatMap(\.phases.keys))
            guard !names.isEmpty else { return }
            let phases = names.map { name in (name, median { $0.phases[name] ?? 0 }.rounded3) }
            try container.encode(Dictionary(uniqueKeysWithValues: phases), forKey: .phases)
        }
    }
}

extension [Double] {
    /// The middle value, or the mean of the two in the middle; 0 of nothing.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.indices.last else { return 0 }
        return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
    }

    /// 0 of nothing.
    var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }

    /// How far the mean may be off by chance; 0 of less than two values.
    var standardError: Double {
        guard count > 1 else { return 0 }
        let mean = mean
        let squares = reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (squares / Double(count - 1) / Double(count)).squareRoot()
    }
}
