/// Stages in their order: the stages of an `NSStagedMigrationManager`.
///
/// ```swift
/// let stages = try StagedMigration {
///     LightweightMigrationStage(["Model", "Model 2"], label: "Names and numbers get room")
///     CustomMigrationStage(
///         migratingFrom: "Model 2", to: "Model 3", label: "What was in data moves there",
///         willMigrate: { manager, stage in try decode(manager.context) })
/// }
/// ```
///
/// The stages are one line of versions. A stage begins with the version that the stage before ended with, or with the
/// next one: the hop between the two is inferred. Versions after the last stage follow in the order of the models'
/// history.
public struct StagedMigration: Sendable {
    /// The stages in their order.
    public let stages: [any MigrationStage]

    /// Stages in their order.
    ///
    /// - Parameter stages: at least one.
    /// - Throws: `StagedMigrationError` if a version occurs more than once, a custom stage has equal ends, or a stage
    ///   has no version. References by name and by checksum are compared once more when the models are known.
    public init(_ stages: [any MigrationStage]) throws(StagedMigrationError) {
        guard !stages.isEmpty else {
            throw StagedMigrationError(.empty, "there is no stage", remedy: "give the stages in their order")
        }
        _ = try Self.line(
            of: stages, as: { reference throws(StagedMigrationError) in reference }, isSame: { $0.isSame(as: $1) })
        self.stages = stages
    }

    /// Stages in their order, one after another.
    ///
    /// - Parameter stages: the stages.
    /// - Throws: as the initializer with an array does.
    public init(
        @StageBuilder _ stages: () -> [any MigrationStage]
    ) throws(StagedMigrationError) {
        try self.init(stages())
    }

    /// A version with its stage, counted from 0.
    package struct Stop<Version> {
        package var version: Version
        package var stage: Int

        package init(version: Version, stage: Int) {
            self.version = version
            self.stage = stage
        }
    }

    /// The versions of all stages as one line of at least one stop: a stage that begins where the one before ended adds
    /// its end only. `version` resolves a reference. Throws as `init(_:)`, and what `version` throws.
    package static func line<Version>(
        of stages: [any MigrationStage],
        as version: (ManagedObjectModelReference) throws(StagedMigrationError) -> Version,
        isSame: (Version, Version) -> Bool
    ) throws(StagedMigrationError) -> [Stop<Version>] {
        var line: [Stop<Version>] = []
        for (index, stage) in stages.enumerated() {
            let references = stage.kind.versions
            guard !references.isEmpty else {
                throw StagedMigrationError(
                    .empty, "\(title(of: stage, index)) names no version", remedy: "name its versions in their order")
            }
            let versions = try references.map(version)
            if case .custom = stage.kind, isSame(versions[0], versions[1]) {
                throw StagedMigrationError(
                    .equalEnds, "\(title(of: stage, index)) begins and ends with \(references[0])",
                    remedy: "give it the version that it leads to")
            }
            for (place, version) in versions.enumerated() {
                if place == 0, let last = line.last, isSame(last.version, version) { continue }
                if let other = line.first(where: { isSame($0.version, version) }) {
                    throw StagedMigrationError(
                        .duplicateVersions,
                        """
                        Duplicate version checksums across stages detected: \(references[place]) is in \
                        \(title(of: stages[other.stage], other.stage)) and in \(title(of: stage, index))
                        """,
                        remedy: "name each version once; only a stage that begins where the last one ended repeats it")
                }
                line.append(Stop(version: version, stage: index))
            }
        }
        return line
    }

    /// A stage for people: its place and its label, else its versions.
    package static func title(of stage: any MigrationStage, _ index: Int) -> String {
        let versions = stage.kind.versions.map { $0.name ?? $0.versionChecksum ?? "" }.joined(separator: " → ")
        return "stage \(index + 1) “\(stage.label ?? versions)”"
    }
}

/// Lists stages as statements.
@resultBuilder
public enum StageBuilder {
    /// One stage.
    public static func buildExpression(_ stage: any MigrationStage) -> [any MigrationStage] { [stage] }
    /// Stages made elsewhere.
    public static func buildExpression(_ stages: [any MigrationStage]) -> [any MigrationStage] { stages }
    /// Stages one after another.
    public static func buildBlock(_ stages: [any MigrationStage]...) -> [any MigrationStage] { stages.flatMap { $0 } }
    /// Stages of a loop.
    public static func buildArray(_ stages: [[any MigrationStage]]) -> [any MigrationStage] { stages.flatMap { $0 } }
    /// Stages of an `if` without `else`.
    public static func buildOptional(_ stages: [any MigrationStage]?) -> [any MigrationStage] { stages ?? [] }
    /// Stages of an `if`'s first branch.
    public static func buildEither(first stages: [any MigrationStage]) -> [any MigrationStage] { stages }
    /// Stages of an `if`'s second branch.
    public static func buildEither(second stages: [any MigrationStage]) -> [any MigrationStage] { stages }
}
