import ArgumentParser
import Causeway

/// `causeway models MODELS --export X.xcdatamodel`: a model as Xcode's source.
struct ModelExportArguments: ParsableArguments {
    @Option(
        name: .customLong("export"),
        help: ArgumentHelp(
            """
            Write the model as Xcode's source, with equal hashes: <X>.xcdatamodel, which must not exist yet. For a \
            store whose model is only in its cache, or a version whose source is lost.
            """,
            valueName: "X.xcdatamodel"),
        completion: .file())
    var path: String?

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "With --export: the version's name, identifier or checksum. (default: the current one)",
            valueName: "version"))
    var version: String?

    /// Refuses a version without an export.
    func validate() throws {
        if version != nil, path == nil {
            throw ValidationError("--version names the version to export; give --export too.")
        }
    }

    /// What the command prints as JSON.
    private struct Outcome: Encodable {
        let path: String
        let models: String
        let version: String
        let checksum: String
        let entityHashes: [String: String]
        let leftOut: [String]
        let unknown = ModelExport.unknown

        init(_ export: ModelExport, _ path: String) {
            self.path = path
            models = export.models
            version = export.version
            checksum = export.checksum
            entityHashes = export.entityHashes
            leftOut = export.leftOut
        }
    }

    /// Reads a version and writes its source.
    func export(_ models: String, to path: String) throws(MigrationError) -> ModelExport {
        let export = try ModelExport(models: models, version: version)
        try export.write(to: path)
        return export
    }

    static func lines(_ export: ModelExport, _ path: String, asJSON: Bool) throws -> [String] {
        if asJSON { return [try JSONText.document(Outcome(export, path))] }
        return [
            "\(path): \(export.version), \(Figures.count(export.entityCount, "entity", "entities"))",
            "checksum \(export.checksum), the same when read back",
        ] + listed(export.leftOut, under: "", "Left out; no version hash depends on it")
            + listed(ModelExport.unknown, under: "", "Not known from a store or a compiled model")
    }
}
