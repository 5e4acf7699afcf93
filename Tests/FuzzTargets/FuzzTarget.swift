/// A reader of untrusted bytes, to which a fuzzer gives its inputs.
///
/// The ordinary tests replay the committed corpora through the same code (`Tests/FuzzTests`), `.ci/fuzz` runs
/// libFuzzer.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Xcode's XML, the `contents` of an `.xcdatamodel`.
    case modelXML
    /// The keyed archive of a `.mom`.
    case keyedArchive
    /// `.cdm` and `.xcmappingmodel`.
    case mappingModel
    /// `Z_METADATA.Z_PLIST`
    case metadata
    /// `Z_MODELCACHE.Z_CONTENT`
    case modelCache
    /// Checkpoint container, fields and segments.
    case checkpoint
    /// Plan, verified and swap records.
    case records
    case expression
    case predicate
    /// A whole database file: header, schema, metadata, binding.
    case store
    /// A model's tables, as SQL that SQLite must accept.
    case generatedSQL

    /// Gives the bytes to the real reader and checks what was accepted.
    ///
    /// Refusals are typed errors of the readers and count as success. A trap ends the process.
    /// - Throws: `BrokenPromise` if accepted input doesn't keep what the reader promises.
    package func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        switch self {
        case .modelXML: try ModelChecks.source(bytes)
        case .keyedArchive: try ModelChecks.archive(bytes)
        case .mappingModel: try MappingChecks.run(bytes)
        case .metadata: try MetadataChecks.run(bytes)
        case .modelCache: try ModelChecks.cache(bytes)
        case .checkpoint: try CheckpointChecks.run(bytes)
        case .records: try RecordChecks.run(bytes)
        case .expression: try ExpressionChecks.expression(bytes)
        case .predicate: try ExpressionChecks.predicate(bytes)
        case .store: try StoreChecks.run(bytes)
        case .generatedSQL: try GeneratedSQLChecks.run(bytes)
        }
    }
}
