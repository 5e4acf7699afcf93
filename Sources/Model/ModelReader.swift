import CausewayDeflate

/// Reads models from every form that Xcode and Core Data give them.
///
/// What a file is follows from its content; names and extensions only name things in messages.
package enum ModelReader {
    /// The model or history of models at a path: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`.
    ///
    /// Throws when there is no bundle at all. Errors of single versions are kept in the bundle; a bundle of one model
    /// has one version, and its error is thrown.
    package static func bundle(at path: String) throws(ModelError) -> ModelBundle {
        let files = try ModelFiles(path)
        switch try files.kind() {
        case .folder:
            var reader = BundleReader(files)
            return try reader.read()
        case .file:
            let bytes = try files.read()
            let form = ModelForm(bytes)
            // The reader of one file doesn't know the file's name; its errors get it here.
            let model = try ModelReader.model(bytes, form, path)
            let version = ModelBundle.Version(name: BundleReader.name(of: path), path: path, model: .success(model))
            return ModelBundle(
                name: version.name, path: path, kind: form == .source ? .source : .compiled, versions: [version],
                currentVersionName: version.name)
        case nil: throw ModelError(.unreadable, "There is no file or folder.", path: path)
        }
    }

    /// A model from Xcode's XML, the content of `X.xcdatamodel/contents`.
    package static func model(source bytes: [UInt8], path: String? = nil) throws(ModelError) -> ManagedObjectModel {
        do {
            return try SourceModelReader.read(bytes)
        } catch {
            throw error.at(path)
        }
    }

    /// A model from the keyed archive that a `.mom` file is.
    package static func model(compiled bytes: [UInt8], path: String? = nil) throws(ModelError) -> ManagedObjectModel {
        do {
            return try ArchivedModelReader.read(bytes)
        } catch {
            throw error.at(path)
        }
    }

    /// A model from `Z_MODELCACHE.Z_CONTENT`: a keyed archive in raw DEFLATE (InsideStoreFormat §8).
    ///
    /// Throws `emptyCache` for nil and for no bytes, `damaged` where the stream ends early or isn't one,
    /// `limitExceeded` when it would inflate beyond `ModelLimits.fileSize`.
    package static func model(cache content: [UInt8]?) throws(ModelError) -> ManagedObjectModel {
        guard let content, !content.isEmpty else {
            throw ModelError(
                .emptyCache, "The store's model cache is empty; name a model file for the store's version.")
        }
        // Never seen bare in a store, but harmless to accept, as the reference tools do.
        if ModelForm(content) == .archive { return try model(compiled: content) }
        let archive: [UInt8]
        do {
            archive = try RawDeflate.inflate(content, limit: ModelLimits.fileSize)
        } catch {
            throw ModelError(
                error.code == .limitExceeded ? .limitExceeded : .damaged,
                "The store's model cache can't be inflated: \(error.message) "
                    + "Name a model file for the store's version instead.")
        }
        return try model(compiled: archive)
    }

    static func model(_ bytes: [UInt8], _ form: ModelForm, _ path: String) throws(ModelError) -> ManagedObjectModel {
        switch form {
        case .source: return try model(source: bytes, path: path)
        case .archive: return try model(compiled: bytes, path: path)
        case .optimized:
            throw ModelError(
                .unsupportedFormat,
                "This is an optimised model (.omo), whose form Apple doesn't publish. Use the .mom of the same version, "
                    + "which lies beside it for every version but the current one, the model's source, or the store's "
                    + "own model cache.",
                path: path)
        case .store:
            throw ModelError(
                .notAModel, "This is a store, not a model; leave out the model to use the store's own.",
                path: path)
        case .unknown:
            throw ModelError(
                .notAModel,
                "This isn't a model: neither the XML of an .xcdatamodel nor the keyed archive of a .mom. "
                    + "Name an .xcdatamodeld, .xcdatamodel, .momd or .mom.",
                path: path)
        }
    }
}

/// A file's kind by its first bytes.
enum ModelForm {
    case source, archive, optimized, store, unknown

    init(_ bytes: [UInt8]) {
        let head = bytes.prefix(64)
        if head.starts(with: Array("bplist".utf8)) {
            self = .archive
        } else if head.starts(with: Array("momv".utf8)) {
            self = .optimized
        } else if head.starts(with: Array("SQLite format 3".utf8)) {
            self = .store
        } else if Self.looksLikeXML(head) {
            self = .source
        } else {
            self = .unknown
        }
    }

    static func looksLikeXML(_ head: some Collection<UInt8>) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = head.starts(with: mark) ? Array(head.dropFirst(3)) : Array(head)
        return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }
}
