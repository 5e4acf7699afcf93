/// Reads mapping models: `.xcmappingmodel` folders of Xcode's editor, and `.cdm` files of Xcode's compiler.
///
/// A file's kind follows from its content, not from its name. Nothing is resolved here: that needs the models.
package enum MappingModelReader {
    /// The mapping model at a path.
    ///
    /// Throws `MappingFileError` with the path, and where it applies the entity mapping and the property.
    package static func read(_ path: String) throws(MappingFileError) -> MappingModelDescription {
        let file = try MappingModelFile(path)
        return try read(file.bytes, name: MappingModelFile.name(of: path), path: path)
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
