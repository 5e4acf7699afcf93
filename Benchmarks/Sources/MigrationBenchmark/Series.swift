import Foundation

/// One kind of work over all rounds.
struct Series: Encodable {
    let outcomes: [Outcome]

    init(_ outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    var seconds: Double { median(\.seconds) }

    /// The largest of all rounds.
    var peakMemoryBytes: Int? { outcomes.compactMap(\.peakMemoryBytes).max() }

    func median(_ value: (Outcome) -> Double) -> Double { outcomes.map(value).median }

    /// In the order of time's share; empty where there are no phases.
    var phases: [(name: String, seconds: Double)] {
        Set(outcomes.flatMap(\.phases.keys)).map { name in (name, median { $0.phases[name] ?? 0 }) }
            .sorted { ($1.seconds, $0.name) < ($0.seconds, $1.name) }
    }

    /// To another kind of work in the same rounds, of the rounds' own ratios: what slows a whole round down cancels
    /// out.
    func ratios(to other: Series, of value: (Outcome) -> Double = \.seconds) -> [Double] {
        zip(outcomes, other.outcomes).compactMap { value($1) > 0 ? value($0) / value($1) : nil }
    }

    private enum CodingKeys: String, CodingKey {
        case seconds, median, processorSeconds, savingSeconds, peakMemoryBytes, diskBytes, transfer, phases
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(outcomes.map(\.seconds.rounded3), forKey: .seconds)
        try container.encode(seconds.rounded3, forKey: .median)
        try container.encode(outcomes.map(\.processorSeconds.rounded3), forKey: .processorSeconds)
        let saving = outcomes.compactMap { $0.account?.savingSeconds }
        if !saving.isEmpty { try container.encode(saving, forKey: .savingSeconds) }
        try container.encodeIfPresent(peakMemoryBytes, forKey: .peakMemoryBytes)
        try container.encodeIfPresent(outcomes.map(\.diskBytes).max(), forKey: .diskBytes)
        // They are the same in every round, but for a few kilobytes of logs.
        try container.encodeIfPresent(outcomes.last?.transfer, forKey: .transfer)
        guard !phases.isEmpty else { return }
        try container.encode(
            Dictionary(uniqueKeysWithValues: phases.map { ($0.name, $0.seconds.rounded3) }), forKey: .phases)
    }
}

/// Of the rounds' own ratios.
struct Ratio: Encodable {
    let median: Double
    let mean: Double
    let standardError: Double

    /// nil where one of the two wasn't run.
    init?(_ ratios: [Double]) {
        guard !ratios.isEmpty else { return nil }
        (median, mean) = (ratios.median.rounded3, ratios.mean.rounded3)
        standardError = ratios.standardError.rounded3
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

/// Figures as JSON, for people too.
enum FigureFile {
    static func json(_ figures: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(figures)
    }

    /// On standard output.
    static func print(_ figures: some Encodable) throws {
        Swift.print(String(decoding: try json(figures), as: UTF8.self))
    }
}
