import Foundation

/// The project's own Swift files, read from the clone that the tests were built in.
struct SourceTree {
    /// One file.
    struct File {
        /// Below the project's folder: `Sources/Engine/Run/Migration.swift`.
        let path: String
        let lines: [String]

        /// The folders and the name.
        var parts: [String] { path.split(separator: "/").map(String.init) }

        /// The lines without comments and without the words of texts; interpolated code stays.
        var code: [String] {
            lines.map { line in
                if line.drop(while: { $0 == " " }).hasPrefix("//") { return "" }
                return Self.withoutTexts(line)
            }
        }

        private static func withoutTexts(_ line: String) -> String {
            var result = ""
            var isText = false
            var depth = 0
            var characters = Array(line)[...]
            while let character = characters.popFirst() {
                if isText, depth == 0 {
                    if character == "\\", characters.first == "(" {
                        characters.removeFirst()
                        depth = 1
                        result += " "
                    } else if character == "\\" {
                        _ = characters.popFirst()
                    } else if character == "\"" {
                        isText = false
                    }
                    continue
                }
                if depth > 0 {
                    if character == "(" { depth += 1 }
                    if character == ")" { depth -= 1 }
                } else if character == "\"" {
                    isText = true
                    result += " "
                    continue
                } else if character == "/", characters.first == "/" {
                    break
                }
                result.append(character)
            }
            return result
        }
    }

    let root: URL
    let files: [File]

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
}
