import CausewayCheckpoint
import CausewayStores

extension StagingStore {
    /// The staging store that an ended run left, with its progress; nil where there is none, or none that can be gone on
    /// with: a torn file, or one whose progress isn't of this plan.
    ///
    /// - Throws: where that can't be found out.
    static func resumed(_ place: StepPlace) throws(EngineError) -> (StagingStore, StepRecord)? {
        guard try place.hasStaging() else { return nil }
        guard let staging = try StagingStore(resuming: place.staging),
            let content = try staging.progress(place.identity),
            let record = try? StepRecord(content.payload, sequence: content.sequence), record.step == place.index
        else { return nil }
        return (staging, record)
    }
}
