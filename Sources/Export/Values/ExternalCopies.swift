import CausewayPlatform
import CausewayStores

/// Files of externally stored values: copied beside the rows, under their own names, each once.
final class ExternalCopies {
    /// The folder of the copies in the output.
    static let folderName = "external"

    private let values: ExternalValues
    /// The output's folder; nil where there is none, and content goes into the rows.
    private let output: String?
    private var hasFolder = false
    private(set) var count = 0

    init(_ values: ExternalValues, output: String?) {
        self.values = values
        self.output = output
    }

    /// The value behind a reference; nil where its file can't be read.
    func value(_ reference: [UInt8]) throws(EngineError) -> ExportValue? {
        guard let name = ExternalValues.fileName(in: reference), try values.trouble(withFile: name) == nil else {
            return nil
        }
        guard let output else {
            return .data(try values.content(of: reference, title: "an externally stored value"))
        }
        let folder = Paths.join(output, Self.folderName)
        let path = "\(Self.folderName)/\(name)"
        try EngineError.at(folder) {
            if !hasFolder {
                try Files.makeDirectory(folder, mode: 0o777)
                hasFolder = true
            }
            let target = Paths.join(output, path)
            // Two rows may share a file.
            guard try !Files.exists(target) else { return }
            try Files.copyFile(
                from: Paths.join(values.directory, name), to: target, permissions: 0o666, syncs: false,
                followsLinks: false)
            count += 1
        }
        return .file(path)
    }
}
