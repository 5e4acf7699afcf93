import CausewayEvaluation
import CausewayMapping
import CausewayObjects
import CausewayPlatform
import CausewayPlanning
import CausewayStores

/// Old and new object URIs of rows whose keys change (`--key-map`): one JSON object per line.
///
///     {"step":"v2 → v3","mapping":"PostToPost","old":"x-coredata://…/Post/p1","new":"x-coredata://…/Post/p7"}
///
/// Rows that keep their URI aren't listed, nor rows without a result. A row that was split has a line for each result;
/// a row whose key went to another row has a line with `null`.
final class KeyMapFile {
    private static let pageSize = 4_096

    let path: String
    private let file: OpenFile
    private var offset: Int64 = 0
    private var isSynced = false

    /// Continues the file of an earlier run of the same work.
    init(resuming path: String) throws(EngineError) {
        self.path = path
        do {
            file = try OpenFile(path, mode: .readWrite, followsLinks: false)
            offset = try file.status().size
        } catch {
            throw EngineError(.cannotCreate, "\(path): \(error.message)")
        }
    }

    /// Bytes of the file.
    var length: Int64 { offset }

    /// Cuts off what was written after the last commit.
    func cut(at length: Int64) throws(EngineError) {
        isSynced = false
        offset = try file.cut(at: length, path: path)
    }

    /// Creates the file, which must not exist.
    init(creating path: String) throws(EngineError) {
        self.path = path
        do {
            file = try OpenFile(path, mode: .createNew, permissions: 0o600, followsLinks: false)
        } catch {
            throw EngineError(
                .cannotCreate, "\(path): \(error.message)", remedy: "give another --key-map, or move it away")
        }
    }

    func write(
        _ associations: Associations, step: [String], objects: ObjectStep, stores: ObjectStores,
        destination: ObjectContext
    ) throws(EngineError) {
        let prefix = "{\"step\":\(Self.quoted(step.joined(separator: " → "))),\"mapping\":"
        for plan in objects.mappings {
            var place: (entity: Int32, source: Int64, ordinal: Int64) = (0, .min, 0)
            while true {
                let page = try EngineError.at(path) {
                    try associations.everyEntry(of: plan.index, after: place, limit: Self.pageSize)
                }
                guard let last = page.last else { break }
                place = (last.source.entity, last.source.key, last.ordinal)
                var text = ""
                for entry in page {
                    let old = uri(entry.source, objects.source, stores.storeUUID)
                    // The validation may have rejected the row.
                    let made = try present(entry.destination, in: destination)
                    let new = made.map { uri($0, objects.destination, stores.storeUUID) }
                    if old == new { continue }
                    text +=
                        prefix + Self.quoted(plan.description.name) + ",\"old\":" + Self.quoted(old) + ",\"new\":"
                        + (new.map { Self.quoted($0) } ?? "null") + "}\n"
                }
                try append(text)
            }
        }
    }

    private func present(_ object: ObjectID?, in context: ObjectContext) throws(EngineError) -> ObjectID? {
        guard let object else { return nil }
        return try EngineError.at(path) { try context.exists(object) ? object : nil }
    }

    private func append(_ text: String) throws(EngineError) {
        let bytes = Array(text.utf8)
        isSynced = false
        do {
            try unsafe bytes.withUnsafeBytes { buffer in try unsafe file.write(buffer, at: offset) }
            offset += Int64(bytes.count)
        } catch {
            throw EngineError(.inputOutput, "\(path): \(error)")
        }
    }

    /// Makes the file and its name durable.
    func sync() throws(EngineError) {
        if isSynced { return }
        do {
            try file.sync()
            try Files.syncDirectory(Paths.parent(of: path))
            isSynced = true
        } catch {
            // A second fsync could succeed although lines are lost: the step starts over and writes them again.
            var failure = EngineError(
                .inputOutput, "\(path): \(error.message)", remedy: "check the disk, then run again")
            failure.isFailedSync = error.operation == "sync"
            throw failure
        }
    }

    /// Removes the file.
    func discard() throws(EngineError) {
        try EngineError.at(path) { try Files.unlink(path) }
    }

    private func uri(_ object: ObjectID, _ map: StorageMap, _ uuid: String) -> String {
        "x-coredata://\(uuid)/\(map.name(of: object.entity))/p\(object.key)"
    }

    /// Names of models can hold any character.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
