import Causeway

/// How one of several stores ended.
enum StoreOutcome: Sendable {
    case done(MigrationSummary)
    /// With the code to report, which the error itself may not know.
    case failed(MigrationError)
    /// The run was stopped before its turn.
    case notBegun
}

/// Runs one job for each of several stores, a number of them at a time, in their order. A failure doesn't stop the
/// rest; cancelling the task does.
///
/// - Parameters:
///   - count: stores.
///   - parallel: jobs at a time.
///   - job: gets the store's place.
/// - Returns: the outcomes in the stores' order.
func outcomes(
    ofStores count: Int, parallel: Int, _ job: @escaping @Sendable (Int) async -> StoreOutcome
) async -> [StoreOutcome] {
    await withTaskGroup(of: (Int, StoreOutcome).self) { group in
        var result = [StoreOutcome](repeating: .notBegun, count: count)
        var next = 0
        while next < min(parallel, count), !Task.isCancelled {
            let place = next
            group.addTask { (place, await job(place)) }
            next += 1
        }
        while let (place, outcome) = await group.next() {
            result[place] = outcome
            guard next < count, !Task.isCancelled else { continue }
            let following = next
            group.addTask { (following, await job(following)) }
            next += 1
        }
        return result
    }
}

extension String {
    /// Whether it names a file: by the path as given, or by a longer one that ends with it. A store may be called `a`,
    /// and the letter alone doesn't name it.
    func names(_ path: String) -> Bool {
        ranges(of: path).contains { range in
            let begins = path.hasPrefix("/") || range.lowerBound == startIndex || self[..<range.lowerBound].last == "/"
            guard begins, let next = self[range.upperBound...].first else { return begins }
            return !next.isLetter && !next.isNumber && next != "_" && next != "/"
        }
    }
}
