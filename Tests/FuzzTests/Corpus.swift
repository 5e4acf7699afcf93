import CausewayFuzzTargets
import Foundation

/// The committed inputs of a target.
struct Corpus {
    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    let folder: URL

    init(_ target: FuzzTarget) {
        folder = Self.package.appendingPathComponent("Tests/FuzzTests/Corpora/\(target.rawValue)")
    }

    func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}

/// A few of libFuzzer's mutations.
struct Mutation {
    private static let interesting: [UInt8] = [0, 1, 0x20, 0x22, 0x2D, 0x3C, 0x7F, 0x80, 0xFF]

    static func apply(to bytes: [UInt8], from other: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = result.isEmpty ? 0 : Int.random(in: 0..<result.count, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0 where !result.isEmpty: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where !result.isEmpty:
                result[place] = interesting.randomElement(using: &random) ?? 0
            case 2: result.removeSubrange(place..<min(result.count, place + Int.random(in: 1...16, using: &random)))
            case 3:
                result.insert(contentsOf: result[place...].prefix(Int.random(in: 1...32, using: &random)), at: place)
            case 4 where !other.isEmpty:
                let start = Int.random(in: 0..<other.count, using: &random)
                result.insert(contentsOf: other[start...].prefix(Int.random(in: 1...64, using: &random)), at: place)
            case 5: result.removeSubrange(place...)
            default: result.insert(UInt8.random(in: 0...255, using: &random), at: place)
            }
        }
        return result
    }
}
