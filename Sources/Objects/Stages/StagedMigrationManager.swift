/// What a stage's handler works with: the store as it stands at one version. `NSStagedMigrationManager` is this to
/// handlers.
///
/// It lives as long as the handler runs, and belongs to the handler's thread. The store is a copy of the run's own:
/// when the handler throws, it is thrown away, and the original is as it was.
public final class StagedMigrationManager {
    /// The store's objects: fetch them, make new ones, change, relate and delete them.
    ///
    /// Stands for `container.newBackgroundContext()`. `forEach` saves after every batch, and what is left is saved when
    /// the handler ends.
    public let context: ObjectContext
    /// The name of the version at which the store stands.
    public let versionName: String
    private let commit: () throws(ObjectError) -> Void
    private let asked: () -> Bool
    /// What couldn't be saved, also where the handler took no notice.
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

    /// Whether the migration was asked to stop: a handler that computes for long without touching the store looks here,
    /// and throws or returns. Work with the store stops by itself.
    public var isCancelled: Bool { asked() }

    /// Writes what was made and changed, so that memory is free again: what `NSManagedObjectContext.save()` is to a
    /// handler. Objects stay valid.
    ///
    /// A loop of its own calls it every few thousand objects; `forEach` needs no call.
    ///
    /// - Throws: `ObjectError` with `.store` where the store refuses a row. The handler then fails too: what couldn't be
    ///   saved is gone.
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
