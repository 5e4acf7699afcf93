import CausewayModel
import Foundation

/// An input made to do harm, and what must come of it.
struct HostileInput: Sendable {
    /// What the command is run with, and what must hold afterwards.
    struct Run {
        var arguments: [String]
        /// Exit codes that are right; a signal never is.
        var exits: Set<Int32>
        /// Files that must not exist afterwards: a path outside the store's own folder was followed.
        var forbidden: [String] = []
        /// Files that must hold the same bytes afterwards.
        var untouched: [String] = []
        var limits = BoundedProcess.Limits(seconds: 40, memoryKibibytes: 3 << 20)
    }

    let name: String
    /// Makes the input in a folder of its own.
    let make: @Sendable (_ folder: String) throws -> Run

    init(_ name: String, _ make: @escaping @Sendable (_ folder: String) throws -> Run) {
        self.name = name
        self.make = make
    }

    static let all: [HostileInput] = hostileSchemas + hostileRows + hostilePlaces + hostileModels
}

/// A store with two entities and its model, in a folder of its own: the ground that hostile inputs stand on.
struct HostileGround {
    let folder: String
    var store: String { folder + "/Store.sqlite" }
    var models: String { folder + "/Model.xcdatamodeld" }

    /// Makes both; `rows` of each entity.
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

    /// The migration, which may refuse the store's data but must leave its bytes.
    func run(exits: Set<Int32>, more: [String] = []) -> HostileInput.Run {
        HostileInput.Run(arguments: migrate + more, exits: exits, untouched: exits.contains(0) ? [] : [store])
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

    /// Runs the hostile inputs of these names; all where there is none.
    package func hostile(_ names: Set<String>? = nil) throws -> Result {
        var result = Result()
        for input in HostileInput.all where names?.contains(input.name) ?? true {
            try inFolder { folder in
                let run = try input.make(folder)
                let before = run.untouched.map { FileManager.default.contents(atPath: $0) }
                let process = try BoundedProcess(command, run.arguments, in: self.folder, limits: run.limits)
                result.tried += 1
                result.slowest = max(result.slowest, process.seconds)
                let findings = Self.judge(process, run, before)
                result.failures += findings.map { "\(input.name): \($0)" }
                switch process.end {
                case .exit(0) where findings.isEmpty: result.copiedFaithfully += 1
                case .exit where findings.isEmpty: result.refused += 1
                case .exit: break
                case .hung, .signal: result.crashed += 1
                }
            }
        }
        return result
    }

    private static func judge(
        _ process: BoundedProcess, _ run: HostileInput.Run, _ before: [Data?]
    ) -> [String] {
        var findings: [String] = []
        switch process.end {
        case .exit(let code) where run.exits.contains(code): break
        case let end: findings.append("\(end), expected one of \(run.exits.sorted()): \(process.text.prefix(400))")
        }
        for path in run.forbidden where FileManager.default.fileExists(atPath: path) {
            findings.append("\(path) was made")
        }
        for (path, bytes) in zip(run.untouched, before) where FileManager.default.contents(atPath: path) != bytes {
            findings.append("\(path) was changed")
        }
        // A terminal obeys these; newlines are our own.
        if let scalar = process.text.unicodeScalars.first(where: { $0.isObeyedByTerminals }) {
            findings.append("the message holds U+\(String(scalar.value, radix: 16))")
        }
        return findings
    }
}

extension Unicode.Scalar {
    /// Control and format characters but for newline and tabulator.
    fileprivate var isObeyedByTerminals: Bool {
        switch properties.generalCategory {
        case .control: self != "\n" && self != "\t"
        case .format: true
        default: false
        }
    }
}
