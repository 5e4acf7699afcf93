/// What a stage's handler works with: the store at one version. Core Data's handlers get an `NSStagedMigrationManager`.
///
/// It lives as long as the handler runs, and belongs to the handler's thread. The store is a copy of the run's own:
/// when the handler throws, the copy is discarded, and the original is unchanged.
public final class StagedMigrationManager {
    /// The store's objects: fetch them, make new ones, change, relate and delete them.
    ///
    /// Replaces `container.newBackgroundContext()`. `forEach` saves after every batch, and the rest is saved when the
    /// handler ends.
    public let context: ObjectContext
    /// The name of the version that the store has.
    public let versionName: String
    private let commit: () throws(ObjectError) -> Void
    private let asked: () -> Bool
    /// The failure to save, even if the handler ignored it.
    package private(set) var failure: ObjectError?

    package init(
        context: ObjectContext, versionName: String, commit: @escaping () throws(ObjectError) -> Void,
        isCancelled: @escaping () -> Bool
    ) {
        self.context = context
        self.versionName = versionName
        self.commit = commit
        asked = isCancelled
    }

    /// Whether the migration was asked to stop: a handler that computes for long without using the store checks this,
    /// and throws or returns. Work with the store stops by itself.
    public var isCancelled: Bool { asked() }

    /// Writes what was made and changed, so that memory is free again: what `NSManagedObjectContext.save()` is to a
    /// handler. Objects stay valid.
    ///
    /// Call it every few thousand objects in a loop of your own; `forEach` needs no call.
    ///
    /// - Throws: `ObjectError` with `.store` where the store refuses a row. The handler then fails too: the unsaved
    ///   objects are lost.
    public func save() throws(ObjectError) {
        do throws(ObjectError) {
            try context.flush()
            try commit()
        } catch {
            failure = error
            throw error
        }
    }
}
