import CausewayPlatform
import CausewaySQLiteFile
import CausewayStores

extension EngineError {
    /// Pages of the new store that can't be written.
    init(writing error: PageBuildError, during title: String) {
        switch error.code {
        case .file:
            self.init(
                .inputOutput, "\(title): \(error.cause?.message ?? error.message)", remedy: "make room, then run again")
            isFailedSync = error.cause?.operation == "sync"
        case .outOfOrder, .tooLong: self.init(.sourceData, "\(title): \(error.description)")
        case .unsuitable, .badState, .full: self.init(.verification, "\(title): \(error.description)")
        }
    }
}
