import CausewayPlist
import CausewayStoreFormat

/// Property lists, and the store's metadata read from them.
enum MetadataChecks {
    private static let uuid = "01234567-89AB-CDEF-0123-456789ABCDEF"

    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let tree = try BrokenPromise.unlessRefused({ () throws(PropertyListError) in
                try PropertyList(parsing: bytes)
            })
        else { return }
        try survivesWriting(tree)
        guard
            let metadata = try BrokenPromise.unlessRefused({ () throws(StoreFormatError) in
                try StoreMetadata(uuid: uuid, propertyList: tree)
            })
        else { return }
        try survivesWriting(metadata)
    }

    /// Compared as bytes: a NaN isn't equal to itself.
    private static func survivesWriting(_ tree: PropertyList) throws(BrokenPromise) {
        guard
            let written = try BrokenPromise.unlessRefused({ () throws(PropertyListError) in
                try BinaryPropertyListWriter.bytes(of: tree)
            })
        else { return }
        let again = try BrokenPromise.unlessDone("a written property list isn't read") {
            () throws(PropertyListError) in
            try BinaryPropertyListWriter.bytes(of: PropertyList(parsing: written))
        }
        try BrokenPromise.unless(again == written, "a property list written twice differs")
    }

    private static func survivesWriting(_ metadata: StoreMetadata) throws(BrokenPromise) {
        guard
            let written = try BrokenPromise.unlessRefused({ () throws(StoreFormatError) in try metadata.plistBytes() })
        else { return }
        let again = try BrokenPromise.unlessDone("written metadata aren't read") {
            try StoreMetadata(uuid: uuid, propertyList: PropertyList(parsing: written)).plistBytes()
        }
        try BrokenPromise.unless(again == written, "metadata written twice differ")
    }
}
