import Foundation
import Testing

/// Rules of this project that the compiler doesn't check.
@Suite("The house is tidy", .timeLimit(.minutes(60)))
struct TidyTests {
    private static let longestFile = 400

    @Test("no file is longer than 400 lines")
    func files() throws {
        let tree = try SourceTree.project.get()
        #expect(tree.files.count > 500)
        for file in tree.files {
            #expect(file.lines.count <= Self.longestFile, "\(file.path): \(file.lines.count) lines")
        }
    }

    /// The formatter breaks code at this column, and leaves comments as they are.
    private static let lastColumn = 120

    @Test("no comment passes column 120, but for rows of tables")
    func comments() throws {
        for file in try SourceTree.project.get().files {
            for (place, line) in file.lines.enumerated() where line.utf8.count > Self.lastColumn {
                let text = line.drop { $0 == " " }
                guard text.hasPrefix("//"), !text.hasPrefix("/// |") else { continue }
                #expect(line.count <= Self.lastColumn, "\(file.path):\(place + 1)")
            }
        }
    }

    private static let longestFunction = 60
    private static let mostParameters = 8

    @Test("no function is longer than 60 lines or takes more than 8 parameters")
    func functions() throws {
        let tree = try SourceTree.project.get()
        var count = 0
        for file in tree.files {
            for function in Callable.all(in: file) {
                count += 1
                let place = "\(file.path):\(function.line): \(function.name)"
                #expect(function.length <= Self.longestFunction, "\(place) has \(function.length) lines")
                #expect(function.parameters <= Self.mostParameters, "\(place) takes \(function.parameters) parameters")
            }
        }
        #expect(count > 4_000)
    }

    /// An hour: all tests start at once and wait for each other, so that a shorter limit would measure the machine. A
    /// test that hangs then fails by its name, before the CI's own limit of 90 minutes.
    @Test("a file with tests gives them a time limit")
    func timeLimits() throws {
        for file in try SourceTree.project.get().files
        where file.path.hasPrefix("Tests/") && file.code.contains(where: { $0.contains("@Test") }) {
            let isExtension = file.code.contains { $0.hasPrefix("extension ") && $0.contains("Tests") }
            #expect(isExtension || file.code.contains { $0.contains(".timeLimit(") }, "\(file.path)")
        }
    }

    @Test("every declared name in Sources that isn't public occurs a second time")
    func deadCode() throws {
        let files = try SourceTree.project.get().files
        var counts: [String: Int] = [:]
        for file in files { for word in file.words { counts[word, default: 0] += 1 } }
        let kinds: Set = ["func", "let", "var", "struct", "enum", "class", "typealias", "protocol"]
        var declared = 0
        for file in files where file.path.hasPrefix("Sources/") {
            for line in file.code where !line.contains("public ") && !line.contains("open ") && !line.contains("@main")
            {
                let words = SourceTree.words(line)
                guard let kind = words.firstIndex(where: kinds.contains), words.indices.contains(kind + 1) else {
                    continue
                }
                let name = words[kind + 1]
                declared += 1
                let isMain = name == "Main"
                if !isMain, name != "_", counts[name] == 1 { Issue.record("\(file.path): nobody uses \(name)") }
            }
        }
        #expect(declared > 10_000)
    }

    @Test("files and types are named for what they are")
    func names() throws {
        let tree = try SourceTree(["Sources", "Tests"])
        let words = ["Review", "Manager", "Helper", "Utils", "Utilities", "Misc"]
        for file in tree.files {
            let name = file.parts.last ?? ""
            // `NSMigrationManager` is Core Data's name for the object that policies are given.
            for word in words where name.contains(word) && !name.contains("MigrationManager") {
                Issue.record("\(file.path): “\(word)” names nothing")
            }
        }
    }

    @Test("folders of the engine use each other in one direction")
    func arrows() throws {
        let rooms = [
            "Run", "Steps", "Verification", "Finishing", "Loading/Objects", "Loading/Statements", "Loading/Pages",
            "Loading/Pipeline",
            "Loading", "Swap", "Progress", "Loading/Rows", "Recovery", "Events",
        ]
        let arrows = try Arrows(of: "Sources/Engine", rooms: rooms)
        #expect(arrows.uses.count > 100)
        #expect(arrows.unknown.isEmpty, "files in no room")
        for use in arrows.upward { Issue.record("\(use)") }
    }

    @Test("a citation names an article of this repository, and a section that it has")
    func citations() throws {
        let tree = try SourceTree.project.get()
        let catalog = tree.root.appendingPathComponent("Sources/Causeway/Documentation.docc")
        var sections: [String: Set<String>] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: catalog.path) where name.hasSuffix(".md") {
            let article = String((name as NSString).lastPathComponent.dropLast(3))
            let text = try String(contentsOf: catalog.appendingPathComponent(name), encoding: .utf8)
            sections[article] = Self.sections(text)
        }
        #expect(sections.count > 20)
        var count = 0
        for file in tree.files {
            for line in file.lines {
                for (article, section) in Self.citations(line) {
                    count += 1
                    guard let known = sections[article] else {
                        Issue.record("\(file.path): there is no article \(article)")
                        continue
                    }
                    if let section { #expect(known.contains(section), "\(file.path): \(article) §\(section)") }
                }
                for page in Self.absentPages where line.contains(page + ".md") {
                    Issue.record("\(file.path): a clone has no \(page).md")
                }
            }
        }
        #expect(count > 100)
    }

    /// Pages outside of this repository.
    private static let absentPages = [
        "store-format", "version-hash", "core-data-migration", "reliability", "performance",
    ]

    /// `InsideStoreFormat §5.2` names an article and a section.
    private static func citations(_ line: String) -> [(article: String, section: String?)] {
        guard line.contains("Inside") else { return [] }
        let words = line.split {
            $0 == " " || $0 == "(" || $0 == ")" || $0 == "," || $0 == ":" || $0 == ";" || $0 == "`"
        }
        return words.indices.compactMap { index in
            let word = words[index]
            guard word.hasPrefix("Inside"), word.count > "Inside".count, word.allSatisfy(\.isLetter),
                word.dropFirst("Inside".count).first?.isUppercase == true
            else { return nil }
            guard index + 1 < words.count, words[index + 1].hasPrefix("§") else { return (String(word), nil) }
            let number = words[index + 1].dropFirst().prefix { $0.isNumber || $0 == "." }
            return (String(word), String(number.hasSuffix(".") ? number.dropLast() : number))
        }
    }

    /// The numbers of an article's sections: `## 3.2 Keys` has 3.2, and the second item of a list in it 3.2.2.
    private static func sections(_ text: String) -> Set<String> {
        var result: Set<String> = []
        var section = ""
        for line in text.split(separator: "\n") {
            let rest = line.drop { $0 == "#" || $0 == " " }
            var number = rest.prefix { $0.isNumber || $0 == "." }
            while number.hasSuffix(".") { number = number.dropLast() }
            if line.hasPrefix("#") {
                section = String(number)
                result.insert(section)
            } else if !number.isEmpty, !section.isEmpty {
                result.insert("\(section).\(number)")
            }
        }
        return result
    }
}
