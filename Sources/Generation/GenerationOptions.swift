/// The parameters of a generated store; with the model and the layout they determine every byte.
package struct GenerationOptions: Hashable, Sendable {
    /// Links multiply two row counts, which must stay within 64 bits; far above what a disk takes.
    package static let maximumRows = 1_000_000_000

    /// Rows of all concrete entities together.
    package var rows: Int
    package var seed: UInt64
    /// Bytes of a value that gets a file of its own. Core Data's threshold is a heuristic of about 128 KiB
    /// (InsideStoreFormat §4.3); both forms are legal for any size.
    package var externalFileBytes: ClosedRange<Int>
    /// One row in so many has such a value, in an attribute that allows external storage …
    package var rowsPerExternalFile: Int
    /// … but no attribute of an entity gets more files than this, so that a large store stays one of rows.
    package var maximumExternalFiles: Int

    package init(
        rows: Int, seed: UInt64, externalFileBytes: ClosedRange<Int> = 131_073...147_456,
        rowsPerExternalFile: Int = 64, maximumExternalFiles: Int = 1_000
    ) {
        self.rows = rows
        self.seed = seed
        self.externalFileBytes = externalFileBytes
        self.rowsPerExternalFile = rowsPerExternalFile
        self.maximumExternalFiles = maximumExternalFiles
    }

    func check() throws(GenerationError) {
        guard (0...GenerationOptions.maximumRows).contains(rows) else {
            throw GenerationError(
                .badOptions, "\(rows) rows can't be generated: choose 0 to \(GenerationOptions.maximumRows)")
        }
        guard externalFileBytes.lowerBound > 0, externalFileBytes.upperBound <= 1 << 30, rowsPerExternalFile > 0,
            maximumExternalFiles > 0
        else {
            throw GenerationError(
                .badOptions, "external files need between 1 byte and 1 GiB, and positive numbers of rows and files")
        }
    }
}

/// The progress of a generation.
package struct GenerationProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// Rows of entity tables.
        case rows
        /// Rows of join tables, which come on top of the entities' rows.
        case links
        /// Indexes, derived values, R-trees, triggers.
        case indexes
        /// Metadata, model cache, and forcing the file to the disk.
        case closing
    }

    package let phase: Phase
    /// The table or index at work.
    package let object: String
    /// Rows of entity tables written so far; those of join tables in `links`.
    package let rows: Int
    /// Rows of entity tables in all; nil in `links`, whose number is only known at the end.
    package let totalRows: Int?
}
