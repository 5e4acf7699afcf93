/// How far the step's stages are, for `MigrationManager.migrationProgress`.
final class ObjectProgress {
    private let total: Int
    private var done = 0

    init(total: Int) {
        self.total = total
    }

    var fraction: Double { Double(done) / Double(total) }

    func advance() { done += 1 }
}
