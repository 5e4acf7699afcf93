import CausewayModel
import Foundation

/// An input made to do harm, and the expected result.
struct HostileInput: Sendable {
    /// How the command is run, and what must hold afterwards.
    struct Run {
        var arguments: [String]
        /// Exit codes that are right; ending by a signal never is.
        var exits: Set<Int32>
        /// Files that must not exist afterwards: they would show that a path out of the store's folder was followed.
        var forbidden: [String] = []
        /// Files that must hold the same bytes afterwards, whatever the exit code is.
        var untouched: [String] = []
        /// The store: it must hold the same bytes unless it was migrated in place successfully.
        var source: String?
        /// Texts that the output must contain.
        var phrases: [String] = []
        var limits = BoundedProcess.Limits(seconds: 40, memoryKibibytes: 3 << 20)

        /// A migration in place that succeeds.
        func mayReplace(_ path: String, _ end: BoundedProcess.End) -> Bool {
            path == source && end == .exit(0) && !arguments.contains("--output")
        }
    }

    let name: String
    /// Makes the input in a folder of its own.
    let make: @Sendable (_ folder: String) throws -> Run

    init(_ name: String, _ make: @escaping @Sendable (_ folder: String) throws -> Run) {
        self.name = name
        self.make = make
    }

    static let all: [HostileInput] =
        hostileSchemas + hostileTables + hostileRows + hostilePlaces + hostileModels
}

/// A store with two entities and its model, in a folder of its own: hostile inputs are made from it.
struct HostileGround {
    let folder: String
    var store: String { folder + "/Store.sqlite" }
    var models: String { folder + "/Model.xcdatamodeld" }

    /// Makes both, with `rows` rows of each entity.
    init(_ folder: String, rows: Int = 3) throws {
        self.folder = folder
        let first = SeedTexts.models[0]
        let second = first.replacingOccurrences(
            of: "<relationship name=\"folder\"",
            with: "<attribute name=\"extra\" optional=\"YES\" attributeType=\"String\"/><relationship name=\"folder\"")
        for (name, text) in [("v1", first), ("v2", second)] {
            let version = "\(models)/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
        }
        try Self.current("v2").write(to: URL(fileURLWithPath: models + "/.xccurrentversion"))
        let model = try ModelReader.model(source: Array(first.utf8))
        try SeedStore(model: model, frameworkVersion: 1_344, rows: rows).write(to: store)
        try edit(["UPDATE ZNOTE SET ZTEXT = '\(Canary.text)-' || Z_PK"])
    }

    /// `.xccurrentversion` of a bundle.
    static func current(_ name: String) -> Data {
        Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name).xcdatamodel</string></dict></plist>
            """.utf8)
    }

    var migrate: [String] { ["migrate", store, "--models", models] }

    /// Runs a migration, which may refuse the store's data but must not change its bytes.
    func run(exits: Set<Int32>, more: [String] = []) -> HostileInput.Run {
        HostileInput.Run(arguments: migrate + more, exits: exits, source: store)
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }
}

extension DamageHarness {
    /// Names of all hostile inputs.
    package static var hostileInputs: [String] { HostileInput.all.map(\.name) }

    /// Runs the hostile inputs of these names; nil is all.
    package func hostile(_ names: Set<String>? = nil) throws -> Result {
        let inputs = HostileInput.all.filter { names?.contains($0.name) ?? true }
        return try Workers.run(inputs.count, threads: threads) { index in try hostile(inputs[index]) }
    }

    private func hostile(_ input: HostileInput) throws -> Result {
        try inFolder { folder in
            let run = try input.make(folder)
            let watched = run.untouched + (run.source.map { [$0] } ?? [])
            let before = watched.map { FileManager.default.contents(atPath: $0) }
            let process = try BoundedProcess(command, run.arguments, in: self.folder, limits: run.limits)
            var result = Result()
            result.tried = 1
            result.slowest = process.seconds
            var findings = Self.judge(process, run)
            for (path, bytes) in zip(watched, before)
            where FileManager.default.contents(atPath: path) != bytes && !run.mayReplace(path, process.end) {
                findings.append("\(path) was changed")
            }
            result.failures = findings.map { "\(input.name): \($0)" }
            switch process.end {
            case .exit(0) where findings.isEmpty: result.survived = 1
            case .exit(let code) where findings.isEmpty: (result.survived, result.refused) = (1, [code: 1])
            case .exit: break
            case .hung, .signal: result.crashed = 1
            }
            return result
        }
    }

    private static func judge(_ process: BoundedProcess, _ run: HostileInput.Run) -> [String] {
        var findings: [String] = []
        switch process.end {
        case .exit(let code) where run.exits.contains(code): break
        case let end: findings.append("\(end), expected one of \(run.exits.sorted()): \(process.text.prefix(400))")
        }
        for path in run.forbidden where FileManager.default.fileExists(atPath: path) {
            findings.append("\(path) was made")
        }
        for phrase in run.phrases where !process.text.contains(phrase) {
            findings.append("the output doesn't say \"\(phrase)\": \(process.text.prefix(400))")
        }
        if Canary.isSung(in: process.text) { findings.append("the output holds the content of a row") }
        // A terminal obeys these; the newlines are ours.
        if let scalar = process.text.unicodeScalars.first(where: { $0.isObeyedByTerminals }) {
            findings.append("the message holds U+\(String(scalar.value, radix: 16))")
        }
        return findings
    }
}

extension Unicode.Scalar {
    /// Control and format characters except newline and tab.
    fileprivate var isObeyedByTerminals: Bool {
        switch properties.generalCategory {
        case .control: self != "\n" && self != "\t"
        case .format: true
        default: false
        }
    }
}
