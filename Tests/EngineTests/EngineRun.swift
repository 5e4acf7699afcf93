import CausewayEngine
import CausewayPreparation
import Foundation

enum EngineRun {
    /// Migrates into a new file beside the store.
    static func output(_ request: MigrationRequest, as name: String) throws -> String {
        var request = request
        let path = URL(filePath: request.store).deletingLastPathComponent().appending(path: name).path
        request.output = path
        _ = try Migration(request).run()
        return path
    }
}
