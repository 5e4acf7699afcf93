public import Causeway
import CausewayGeneration
import CausewayModel
import CausewayPreparation
import CausewayStoreFormat
import CausewayStores

/// Writes a store with made-up rows for a model, as Core Data would have left it: for tests, fixtures and measurements.
///
/// ```swift
/// let generation = StoreGeneration(model: "App.xcdatamodeld", output: "Test.sqlite", rows: 1_000_000, seed: 1)
/// let rowsByEntity = try generation.run()
/// ```
///
/// What is set here determines every byte of the result.
public struct StoreGeneration: Hashable, Sendable {
    /// The newest `NSPersistenceFrameworkVersion` of which stores of many models have been compared.
    public static let defaultFrameworkVersion = 1145

    /// An `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`; or a store, for the model in its own cache.
    public var model: String
    /// Where the store goes; it must not exist yet.
    public var output: String
    /// Rows of all entities in total.
    public var rows: Int
    /// Seed of the made-up values.
    public var seed: UInt64
    /// A model's name, its version identifier or its checksum; nil is the bundle's current version.
    public var version: String?
    /// The `NSPersistenceFrameworkVersion` of the store's layout.
    public var frameworkVersion = defaultFrameworkVersion
    /// A store that Core Data wrote for the version; settles what a model leaves open (names of join tables).
    public var schemaTemplate: String?

    /// Describes a store; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - model: path of the model.
    ///   - output: path of the store to write.
    ///   - rows: rows of all entities in total.
    ///   - seed: seed of the made-up values.
    public init(model: String, output: String, rows: Int, seed: UInt64) {
        self.model = model
        self.output = output
        self.rows = rows
        self.seed = seed
    }

    /// Writes the store.
    ///
    /// - Parameter progress: called a few times a second with the rows written so far; returning false stops, and the
    ///   partial store is removed.
    /// - Returns: rows by entity, abstract ones left out. Fewer in all than `rows`, where the model's uniqueness
    ///   constraints and mandatory relationships allow no more: a unique Boolean has two values.
    /// - Throws: `MigrationError` where the model can't be used, or the output exists or can't be written.
    @discardableResult
    public func run(progress: (Int) -> Bool = { _ in true }) throws(MigrationError) -> [String: Int] {
        do throws(EngineError) {
            let history = try ModelHistory(reading: model, edges: [:])
            let version = try history.version(named: history.resolve(version))
            let hints = try schemaTemplate.map { path throws(EngineError) in try Self.hints(fromTemplate: path) }
            let layout: StoreLayout
            do throws(StoreFormatError) {
                layout = try StoreLayout(
                    model: version.model, frameworkVersion: frameworkVersion, hints: hints ?? LayoutHints())
            } catch {
                throw EngineError(.plan, "\(model): \(error)")
            }
            return try write(layout, progress)
        } catch {
            throw MigrationError(error)
        }
    }
}

extension StoreGeneration {
    private func write(_ layout: StoreLayout, _ progress: (Int) -> Bool) throws(EngineError) -> [String: Int] {
        do throws(GenerationError) {
            let generator = try StoreGenerator(layout: layout, options: GenerationOptions(rows: rows, seed: seed))
            try generator.generate(at: output) { progress($0.rows) }
            return generator.counts
        } catch {
            switch error.code {
            case .badOptions: throw EngineError(.usage, "\(error)")
            case .outputExists, .cannotCreate: throw EngineError(.cannotCreate, "\(error)")
            case .unusableModel: throw EngineError(.plan, "\(model): \(error)")
            case .writing: throw EngineError(.inputOutput, "\(error)")
            case .cancelled: throw EngineError(.interrupted, "\(error)")
            }
        }
    }

    private static func hints(fromTemplate path: String) throws(EngineError) -> LayoutHints {
        try SourceStore.reading(StoreLocation(existing: path)) { LayoutHints($0.schema) }
    }
}
