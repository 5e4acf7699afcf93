import ArgumentParser
import Causeway
import CausewayPlatform

/// `KEY=VALUE` for a store's metadata; `MetadataValue` says how the value is read.
struct MetadataEntry: Hashable {
    let key: String
    let value: MetadataValue

    /// - Throws: `ValidationError` that says what is wrong with it.
    init(parsing argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw ValidationError("a key, = and a value are needed") }
        guard let value = MetadataValue(spelling: parts[1]) else {
            let type = parts[1].prefix { $0 != ":" }
            throw ValidationError("what follows \(type): isn't a value of that type; string: in front takes any text")
        }
        (key, self.value) = (parts[0], value)
    }
}

extension [MetadataEntry] {
    /// - Throws: `ValidationError` where a key is Core Data's own, or has two values.
    func entries() throws -> [String: MetadataValue] {
        var result: [String: MetadataValue] = [:]
        for entry in self {
            if let refusal = MetadataValue.refusal(ofKey: entry.key) {
                throw ValidationError("--set-metadata: the key \"\(entry.key)\" \(refusal).")
            }
            if let other = result[entry.key], other != entry.value {
                throw ValidationError("--set-metadata gives two values for \"\(entry.key)\"; give one of them.")
            }
            result[entry.key] = entry.value
        }
        return result
    }
}

extension [String: MetadataValue] {
    /// `PLModelVersion = 18000 (integer), owner = me (string)`
    var inWords: String {
        sorted { $0.key < $1.key }.map { key, value in
            switch value {
            case .text(let text): "\(key) = \(text) (string)"
            case .integer(let number): "\(key) = \(number) (integer)"
            case .real(let number): "\(key) = \(number) (real)"
            case .boolean(let flag): "\(key) = \(flag) (Boolean)"
            }
        }.joined(separator: ", ").onOneLine
    }
}
