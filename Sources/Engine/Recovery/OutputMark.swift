import CausewayCheckpoint
import CausewayPlatform
import CausewayPreparation
import CausewaySQLiteFile
import CausewayStores

/// The mark of a published file: it identifies the source, the plan and the verification that gave the file.
///
/// It outlives the work directory: a run that is killed while it removes that, or after, is recognised by it when the
/// same is asked for again. A program that writes to one of the two files ends that.
struct OutputMark {
    let text: String

    /// - Parameters:
    ///   - fingerprint: of the plan.
    ///   - source: as it was before it was read.
    ///   - verification: how thoroughly the result was verified.
    ///   - output: its file, with which nothing happens any more.
    ///   - sideFiles: paths of the files that were written beside it.
    /// - Throws: where the file can't be read.
    init(
        _ fingerprint: PlanFingerprint, _ source: SourceIdentity, _ verification: VerificationLevel,
        _ output: String, sideFiles: [String]
    ) throws(FileError) {
        let status = try Files.status(of: output)
        let file = FileIdentity(status, try Files.readPrefix(of: output, length: DatabaseHeader.length))
        var source = source
        // The source is compared before its metadata is read.
        source.uuid = ""
        var parts = [
            fingerprint.text, Hexadecimal.text(source.digest), verification.rawValue, file.header, String(file.bytes),
            String(status.modificationTime),
        ]
        for path in sideFiles {
            let there = try Files.statusIfExists(path)
            parts.append(there.map { "\($0.size) \($0.modificationTime)" } ?? "")
        }
        text = "causeway-output-1 " + Hexadecimal.text(Digest256.of(Array(parts.joined(separator: "\n").utf8)))
    }
}
