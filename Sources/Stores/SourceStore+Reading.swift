import CausewayPlatform

extension SourceStore {
    /// Opens a store, has it read and releases it.
    ///
    /// - Throws: what `body` throws, or `.busy` where the store was written to meanwhile and no lock could prevent it.
    package static func reading<Answer>(
        _ location: StoreLocation, _ body: (SourceStore) throws(EngineError) -> Answer
    ) throws(EngineError) -> Answer {
        let store = try reading(location)
        defer { store.release() }
        let answer: Answer
        do throws(EngineError) {
            answer = try body(store)
        } catch {
            // A file that changes while it is read may look damaged in any way.
            if !error.isInterrupt { try store.requireUnchanged() }
            throw error
        }
        try store.requireUnchanged()
        return answer
    }

    /// Refuses what was read without locks if the file has changed since it was opened.
    ///
    /// In WAL mode a writer changes the file only at a checkpoint: until then it holds one complete state.
    package func requireUnchanged() throws(EngineError) {
        guard isUnlocked else { return }
        let now = try EngineError.reading(location.path) { try Files.status(of: location.path) }
        guard
            !now.isSameFile(as: identity) || now.size != identity.size
                || now.modificationTime != identity.modificationTime
        else { return }
        throw EngineError(
            .busy, "\(location.path): another program wrote to the store while it was read",
            remedy: "run again when no other program uses it")
    }
}
