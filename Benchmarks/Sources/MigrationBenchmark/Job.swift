/// What is done to a store, as issue and reports number it.
enum Job: String, CaseIterable, Encodable {
    case a, a1, b, c, d, e

    var title: String {
        switch self {
        case .a: "rename, add with value and drop in all tables"
        case .a1: "the same, one table with nine tenths of the store"
        case .b: "an entity in front, so that every Z_ENT changes"
        case .c: "one small table changed"
        case .d: "chains of 1, 8 and 40 steps"
        case .e: "one small table changed, on a file system that shares extents"
        }
    }

    var shape: Archive.Shape { self == .a1 ? .single : .spread }

    /// Whose work takes turns.
    var entrants: [Entrant] {
        switch self {
        case .a, .a1: Self.all(.attributes)
        case .b: Self.all(.entity).filter { $0.contender != .sqliteUtils }
        case .c: Self.all(.smallTable)
        case .d:
            [Entrant(contender: .copy, change: .attributes)]
                + [Archive.Change.attributes, .entity].flatMap { change in
                    [1, 8, 40].flatMap { steps in
                        [.none, .quick].map {
                            Entrant(contender: .pages, change: change, steps: steps, verification: $0)
                        }
                    }
                }
        case .e: Self.all(.smallTable) + [Entrant(contender: .cloneAndAlter, change: .smallTable)]
        }
    }

    private static func all(_ change: Archive.Change) -> [Entrant] {
        let migrations = [Contender.pages, .statements].flatMap { contender in
            [VerificationChoice.none, .quick].map {
                Entrant(contender: contender, change: change, verification: $0)
            }
        }
        let others: [Contender] = [.sql, .vacuum, .copy, .copyAndAlter, .sqliteUtils]
        return migrations + others.map { Entrant(contender: $0, change: change) }
    }
}
