/// Goes through a trace and makes, at each crash point, the states that are new.
struct CrashWalk {
    private let exploration: Exploration
    private let settings: CrashExplorer.Settings
    private let only: (point: Int, choice: PersistenceChoice)?
    private let stride: Int
    private var model: DiskModel
    private var maker = StateMaker()
    /// States by their hash; those after success by another hash, because more must hold in them.
    private var known: Set<UInt64> = []
    private var point = 0
    private var last: TraceOperation.Kind?
    /// The previous point was left out, so its states haven't been tried.
    private var isAfterGap = true
    /// Choices that were made so far.
    private(set) var tried = 0
    private(set) var points = 0

    init(_ exploration: Exploration, _ settings: CrashExplorer.Settings) throws {
        self.exploration = exploration
        self.settings = settings
        model = DiskModel(exploration.start, splitsRenames: settings.splitsRenames)
        stride = settings.visited(of: exploration.trace.operations.count)
        guard let text = settings.only else {
            only = nil
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let point = Int(parts[0]) else {
            throw HarnessError("\(text): a state looks like 123:d:all,n:first3")
        }
        only = (point, try PersistenceChoice(text: parts[1]))
    }

    /// The new states of the next crash point; nil at the end.
    mutating func next() throws -> [CrashState]? {
        let operations = exploration.trace.operations
        while point <= operations.count {
            let here = point
            if here > 0 {
                try model.apply(operations[here - 1], id: here - 1)
                last = operations[here - 1].kind
            }
            point += 1
            guard isWanted(here) else {
                isAfterGap = true
                continue
            }
            points += 1
            let states = states(at: here)
            isAfterGap = false
            return states
        }
        return nil
    }

    private func isWanted(_ here: Int) -> Bool {
        if let only { return here == only.point }
        if settings.isAmongPages {
            return exploration.pages.contains {
                $0.contains(here) && (here - $0.lowerBound) % max(1, settings.stride) == 0
            }
        }
        if here >= exploration.seal { return here % max(1, settings.swapStride) == 0 || here >= exploration.success }
        return !settings.isExhaustiveSwap && here % stride == 0
    }

    private mutating func states(at here: Int) -> [CrashState] {
        if let only { return [maker.state(model, only.choice, point: here)] }
        let family = ChoiceFamily(model)
        // At the point of success, all changes that aren't durable are tried again.
        let isFresh = isAfterGap || here == exploration.success
        let choices =
            settings.isExhaustiveSwap ? family.exhaustive() : family.choices(after: isFresh ? nil : last)
        var result: [CrashState] = []
        for choice in choices {
            tried += 1
            let state = maker.state(model, choice, point: here)
            let key = here >= exploration.success ? ~state.hash : state.hash
            guard known.insert(key).inserted else { continue }
            result.append(state)
        }
        guard let limit = settings.statesPerPoint, result.count > limit else { return result }
        return (0..<max(1, limit)).map { result[$0 * result.count / max(1, limit)] }
    }
}
