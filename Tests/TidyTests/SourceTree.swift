import Foundation

/// The project's own Swift files, read from the clone in which the tests were built.
struct SourceTree {
    /// One file.
    struct File {
        /// Below the project's folder: `Sources/Engine/Run/Migration.swift`.
        let path: String
        let lines: [String]

        /// The folders and the name.
        var parts: [String] { path.split(separator: "/").map(String.init) }

        /// The lines without comments and without string literals, except interpolated code.
        let code: [String]

        init(path: String, lines: [String]) {
            self.path = path
            self.lines = lines
            var isText = false
            code = lines.map { line in
                // Of a text over several lines, only interpolations are code.
                let isBorder = line.contains("\"\"\"")
                defer { if isBorder { isText.toggle() } }
                return Self.code(isText && !isBorder ? "\"" + line : line)
            }
        }

        private static func code(_ line: String) -> String {
            var result: [UInt8] = []
            var isText = false
            var depth = 0
            var bytes = Array(line.utf8)[...]
            while let byte = bytes.popFirst() {
                let next = bytes.first
                if isText, depth == 0 {
                    if byte == UInt8(ascii: "\\") {
                        bytes.removeFirst(min(1, bytes.count))
                        if next == UInt8(ascii: "(") { depth = 1 }
                    } else if byte == UInt8(ascii: "\"") {
                        isText = false
                    }
                    if depth == 0 { continue }
                    result.append(UInt8(ascii: " "))
                    continue
                }
                if depth > 0 {
                    if byte == UInt8(ascii: "(") { depth += 1 }
                    if byte == UInt8(ascii: ")") { depth -= 1 }
                } else if byte == UInt8(ascii: "\"") {
                    isText = true
                    result.append(UInt8(ascii: " "))
                    continue
                } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "/") {
                    break
                }
                result.append(byte)
            }
            return String(decoding: result, as: UTF8.self)
        }

        /// Names and keywords of the code, in order.
        var words: [String] { code.flatMap { SourceTree.words($0) } }
    }

    let root: URL
    let files: [File]

    /// Everything of the project, read once for all tests.
    static let project = Result { try SourceTree(["Sources", "Tests", "Benchmarks", "Fixtures"]) }

    /// Every Swift file below these folders.
    init(_ folders: [String]) throws {
        root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var files: [File] = []
        for folder in folders {
            let base = root.appendingPathComponent(folder)
            let names = try FileManager.default.subpathsOfDirectory(atPath: base.path).sorted()
            for name in names where name.hasSuffix(".swift") && !name.contains(".build") {
                let text = try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
                files.append(
                    File(
                        path: "\(folder)/\(name)",
                        lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)))
            }
        }
        self.files = files
    }

    /// Names and keywords of a line. Works on bytes: characters would take a minute in a debug build.
    static func words(_ line: String) -> [String] {
        line.utf8.split { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xff:
                false
            default: true
            }
        }.map { String(decoding: $0, as: UTF8.self) }
    }
}
