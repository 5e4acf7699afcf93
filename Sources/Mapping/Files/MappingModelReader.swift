import CausewayModel

/// Reads mapping models: `.xcmappingmodel` folders of Xcode's editor, and `.cdm` files of Xcode's compiler.
///
/// A file's kind follows from its content, not from its name. Nothing is resolved here: that needs the models.
package enum MappingModelReader {
    /// The mapping model at a path.
    ///
    /// Throws `MappingFileError` with the path, and where it applies the entity mapping and the property.
    package static func read(_ path: String) throws(MappingFileError) -> MappingModelDescription {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw MappingFileError(.unreadable, "The mapping model's path is empty or holds a NUL.", path: path)
        }
        var file = path
        let bytes: [UInt8]
        do throws(ForeignFile.Failure) {
            let isFolder = try ForeignFile.isFolder(path, "The mapping model can't be found")
            if isFolder { file += "/xcmapping.xml" }
            bytes = try ForeignFile.content(
                of: file, followsLinks: !isFolder, limit: MappingFileLimits.fileSize, kind: "mapping model")
        } catch {
            throw MappingFileError(error.isTooLarge ? .limitExceeded : .unreadable, error.message, path: file)
        }
        return try read(
            bytes, name: ForeignFile.name(of: path, without: ["xcmappingmodel", "cdm", "xml"]), path: path)
    }

    /// A mapping model from bytes, either form.
    package static func read(
        _ bytes: [UInt8], name: String, path: String? = nil
    ) throws(MappingFileError) -> MappingModelDescription {
        do {
            var description =
                bytes.starts(with: Array("bplist".utf8))
                ? try CompiledMappingReader.read(bytes) : try EditorMappingReader.read(bytes)
            description.name = name
            description.path = path
            return description
        } catch {
            throw error.at(path: path)
        }
    }
}
