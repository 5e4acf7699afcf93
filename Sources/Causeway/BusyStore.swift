import CausewayPlatform
package import CausewayStores

/// A store that other programs may use: they are waited for, and named.
package struct BusyStore: Sendable {
    private let store: String
    private let output: String?
    private let seconds: Double
    private let looksFirst: Bool

    /// - Parameters:
    ///   - store: path of the store's main file.
    ///   - output: where a migration writes the new store; nil for the store's place.
    ///   - seconds: how long to wait until the store is free; 0 doesn't wait.
    ///   - looksFirst: whether to wait for locks before the first try, where that is costly and needs the store alone.
    package init(_ store: String, output: String? = nil, seconds: Double = 0, looksFirst: Bool = false) {
        self.store = store
        self.output = output
        self.seconds = seconds
        self.looksFirst = looksFirst
    }

    /// Milliseconds between two looks for locks, and between two tries where the system doesn't show them.
    private static let lookInterval: UInt32 = 200
    private static let tryInterval: UInt32 = 1_000

    /// Runs `body`, again and again while other programs use the store and there is time.
    ///
    /// - Parameters:
    ///   - cancellation: ends the wait too.
    ///   - announce: called once if there is a wait: with why, and the seconds that it lasts at most.
    ///   - body: what needs the store.
    /// - Returns: what `body` gives.
    /// - Throws: what `body` throws; `.busy` with the programs that use the store.
    package func run<Value>(
        _ cancellation: Cancellation = Cancellation(), announce: (String, Double) -> Void = { _, _ in },
        _ body: () throws(MigrationError) -> Value
    ) throws(MigrationError) -> Value {
        let end = MonotonicClock.seconds() + seconds
        var hasAnnounced = false
        func wait(_ holders: [String], _ milliseconds: UInt32) throws(MigrationError) {
            if !hasAnnounced {
                let names = holders.isEmpty ? "another program" : holders.joined(separator: ", ")
                announce("\(store): the store is in use by \(names)", seconds)
                hasAnnounced = true
            }
            Pause.rest(milliseconds: milliseconds)
            try MigrationError.wrapping { () throws(EngineError) in try cancellation.check() }
        }
        while true {
            // A migration reads every row before it needs the lock: in vain while another program has it.
            while looksFirst, MonotonicClock.seconds() < end, let lockers = lockers(), !lockers.isEmpty {
                try wait(Self.names(lockers), Self.lookInterval)
            }
            do throws(MigrationError) {
                return try body()
            } catch {
                guard error.code == .busy, !error.storeIsNew else { throw error }
                let holders = Self.names(holders(mayOpen: error.isByLock))
                guard MonotonicClock.seconds() < end else { throw error.naming(holders) }
                try wait(holders, Self.tryInterval)
            }
        }
    }

    // MARK: - Holders

    private static func names(_ users: [FileUser]) -> [String] {
        users.map { user in
            guard user.processID > 0 else { return "a program that the system doesn't name" }
            return user.name.isEmpty ? "process \(user.processID)" : "\(user.name) (process \(user.processID))"
        }
    }

    /// Other processes that have the store open, or a lock on it, as far as the system shows them. The file isn't
    /// opened, which would drop locks of this process.
    package func users() -> [String] {
        guard let place = try? StoreLocation(existing: store), let status = try? Files.status(of: place.path) else {
            return []
        }
        let lockers = Files.lockers(of: status) ?? []
        return Self.names(lockers + Files.otherUsers(of: status).known.filter { !lockers.contains($0) })
    }

    /// Processes with a lock on the store, or on the folder of a migration; nil where the system doesn't say.
    private func lockers() -> [FileUser]? {
        guard let place = try? StoreLocation(existing: store) else { return nil }
        let target = output.flatMap { try? StoreLocation(new: $0) } ?? place
        var found: [FileUser] = []
        for path in [place.path, target.workDirectory + "/lock"] {
            guard let status = try? Files.statusIfExists(path) else { continue }
            guard let lockers = Files.lockers(of: status) else { return nil }
            found += lockers.filter { !found.contains($0) }
        }
        return found
    }

    /// Bytes of the main file that SQLite locks (os.h, `PENDING_BYTE` to `SHARED_FIRST + SHARED_SIZE`).
    private static let lockStart: Int64 = 0x4000_0000
    private static let lockLength: Int64 = 512

    /// Those with a lock; where none is known, those that have the file open.
    ///
    /// `mayOpen`: whether no other migration of this process can have the store, whose locks opening the file would
    /// drop.
    private func holders(mayOpen: Bool) -> [FileUser] {
        let lockers = lockers()
        if let lockers, !lockers.isEmpty { return lockers }
        guard let place = try? StoreLocation(existing: store), let status = try? Files.status(of: place.path) else {
            return []
        }
        let users = Files.otherUsers(of: status).known
        guard users.isEmpty, lockers == nil, mayOpen, output == nil else { return users }
        let locker = try? Files.locker(of: place.path, start: Self.lockStart, length: Self.lockLength)
        return locker.map { [$0] } ?? []
    }
}

extension MigrationError {
    /// The same failure with the programs that use the store.
    fileprivate func naming(_ holders: [String]) -> MigrationError {
        var error = self
        error.details += holders.map { "used by \($0)" }
        return error
    }
}
