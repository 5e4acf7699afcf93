import CausewayPlist
import Foundation

/// Real models and mapping models; see shared/stores/CATALOG.md.
enum TestFiles {
    static let stores = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/stores")

    static let areThere = FileManager.default.fileExists(atPath: stores.path)

    /// Compiled models, compiled mapping models and version lists, as paths below `stores`.
    static let propertyLists = paths(withExtensions: ["mom", "cdm", "plist"])
    static let archives = paths(withExtensions: ["mom", "cdm"])

    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: stores.appending(path: path)))
    }

    private static func paths(withExtensions extensions: Set<String>) -> [String] {
        let all = FileManager.default.enumerator(atPath: stores.path)?.compactMap { $0 as? String } ?? []
        return all.filter { extensions.contains(String($0.split(separator: ".").last ?? "")) }.sorted()
    }
}

/// A `bplist00` file put together by hand, valid or not.
struct RawPropertyList {
    var objects: [[UInt8]] = []
    /// The offset table's place according to the trailer; by default the true one.
    var offsets: [Int]?
    var root = 0
    var offsetSize = 2
    var referenceSize = 1
    var count: UInt64?
    var table: UInt64?

    var bytes: [UInt8] {
        var output = Array("bplist00".utf8)
        var starts: [Int] = []
        for object in objects {
            starts.append(output.count)
            output += object
        }
        let tableStart = output.count
        for offset in offsets ?? starts {
            output += Self.bigEndian(UInt64(offset), size: offsetSize)
        }
        output += [0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: offsetSize), UInt8(truncatingIfNeeded: referenceSize)]
        output += Self.bigEndian(count ?? UInt64((offsets ?? starts).count), size: 8)
        output += Self.bigEndian(UInt64(root), size: 8)
        output += Self.bigEndian(table ?? UInt64(tableStart), size: 8)
        return output
    }

    static func bigEndian(_ value: UInt64, size: Int) -> [UInt8] {
        (0..<size).reversed().map { $0 >= 8 ? 0 : UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }
}

/// The same sequence in every run, so that a failing mutation can be repeated.
struct LinearCongruentialGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }
}

extension [UInt8] {
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
