import Foundation

/// One damaged store: runs the commands on it and checks what must hold.
struct DamagedStore {
    /// Exit codes with which `inspect` and `verify` may refuse (InsideCrashSafety §4.6): the data are bad.
    private static let lookingRefusals: Set<Int32> = [65]
    /// Further codes of `migrate`: verification found the damage in the new store, and nothing was swapped; or metadata
    /// and cache are so damaged that the store's version isn't found.
    private static let migrationRefusals: Set<Int32> = lookingRefusals.union([70, 78])
    /// A sound one of these stores takes under a second.
    private static let limits = BoundedProcess.Limits(seconds: 10, memoryKibibytes: 2 << 20)

    private let subject: DamageSubject
    private let oracle: RowOracle?
    private let harness: DamageHarness
    private let folder: String
    private let variant: Int
    /// The case's name, with what replays it.
    private let title: String
    private let bytes: (store: [UInt8], wal: [UInt8]?)
    private var result = DamageHarness.Result()

    private var store: String { folder + "/Store.sqlite" }
    private var pristine: String { folder + "/Pristine.sqlite" }
    /// Every second variant is migrated in place, the others to a new file.
    private var inPlace: Bool { variant % 2 == 0 }
    /// Each in both ways, with every kind of output.
    private var engine: String { variant % 8 < 4 ? "statements" : "pages" }

    init(
        _ subject: DamageSubject, _ damage: StoreDamage, variant: Int, oracle: RowOracle?, folder: String,
        harness: DamageHarness
    ) throws {
        (self.subject, self.oracle, self.harness, self.folder, self.variant) =
            (subject, oracle, harness, folder, variant)
        var bytes = try subject.bytes()
        // In a store with a -wal, every third variant damages the -wal.
        let isWAL = bytes.wal != nil && variant % 3 == 2
        if isWAL {
            bytes.wal = bytes.wal.map { damage.applied(to: $0) }
        } else {
            bytes.store = damage.applied(to: bytes.store)
        }
        self.bytes = bytes
        title = "\(subject.name)\(isWAL ? "-wal" : ""): \(damage), variant \(variant)"
    }

    /// Runs all commands.
    consuming func run() throws -> DamageHarness.Result {
        try place(at: store)
        try run(["inspect", store])
        try run(["verify", store] + (variant % 4 < 2 ? [] : subject.models.map { ["--models", $0] } ?? []))
        if subject.models != nil { try migrate() }
        result.tried = 1
        if result.isClean {
            result.survived = 1
        } else if let findings = harness.findings {
            try keep(in: findings)
        }
        return result
    }

    private func place(at path: String) throws {
        try Data(bytes.store).write(to: URL(fileURLWithPath: path))
        if let wal = bytes.wal { try Data(wal).write(to: URL(fileURLWithPath: path + "-wal")) }
    }

    private func keep(in findings: String) throws {
        let name = title.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." ? $0 : "_" }
        try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
        try place(at: "\(findings)/\(String(name))")
    }

    /// A command that only reads.
    private mutating func run(_ arguments: [String]) throws {
        let process = try start(arguments)
        switch process.end {
        case .exit(0): count("\(arguments[0]): exit 0")
        case .exit(let code) where Self.lookingRefusals.contains(code): note(code, arguments[0], process)
        default: fail(arguments[0], process)
        }
        requireExactBytes(arguments[0])
    }

    private mutating func migrate() throws {
        // The oracle gets its own copy: reading a -wal makes files beside the store.
        try place(at: pristine)
        let output = inPlace ? store : folder + "/New.sqlite"
        let words = [[], ["-v"], ["-v", "-v"], ["--json"]][variant % 4]
        let process = try start(
            ["migrate", store, "--models", subject.models ?? "", "--engine", engine]
                + (subject.target.map { ["--to", $0] } ?? []) + (inPlace ? [] : ["--output", output]) + words)
        switch process.end {
        case .exit(0):
            count("migrate: exit 0")
            try judge(output)
            if !inPlace { requireExactBytes("migrate") }
        case .exit(let code) where Self.migrationRefusals.contains(code):
            note(code, "migrate", process)
            result.refused[code, default: 0] += 1
            try requireUntouched()
        default: fail("migrate", process)
        }
    }

    private mutating func start(_ arguments: [String]) throws -> BoundedProcess {
        let process = try BoundedProcess(harness.command, arguments, in: folder, limits: Self.limits)
        result.slowest = max(result.slowest, process.seconds)
        count("commands")
        if Canary.isSung(in: process.text) { fail("\(arguments[0]): the output holds the content of a row") }
        return process
    }

    // MARK: - Checks

    /// Exit 0: the result holds what SQLite reads from the source.
    private mutating func judge(_ output: String) throws {
        guard let oracle else { return }
        guard FileManager.default.fileExists(atPath: output) else {
            fail("migrate: exit 0, but there is no new store")
            return
        }
        do {
            let losses = try oracle.losses(from: pristine, to: output)
            result.rowsLost += losses.reduce(0) { $0 + $1.rows }
            for loss in losses { fail("migrate: exit 0, but \(loss.text)") }
            if losses.isEmpty { result.copiedFaithfully += 1 }
        } catch {
            fail("migrate: exit 0, but source and result can't be compared: \(error)")
        }
    }

    private mutating func requireExactBytes(_ command: String) {
        for (suffix, before) in [("", bytes.store), ("-wal", bytes.wal)] {
            guard let before, FileManager.default.contents(atPath: store + suffix) != Data(before) else { continue }
            fail("\(command): the bytes of Store.sqlite\(suffix) changed")
        }
    }

    /// A refusal left the store unchanged, except for what taking a store over changes and undoes.
    private mutating func requireUntouched() throws {
        guard inPlace else { return requireExactBytes("migrate") }
        guard let after = FileManager.default.contents(atPath: store) else {
            fail("migrate: refused, but the store is gone")
            return
        }
        if bytes.wal == nil {
            if Self.ownable(Array(after)) != Self.ownable(bytes.store) {
                fail("migrate: refused, but the store's bytes changed")
            }
            return
        }
        // The -wal was checkpointed: the bytes differ, the rows must be the same.
        for loss in try RowOracle.missingRows(from: pristine, to: store) {
            result.rowsLost += loss.rows
            fail("migrate: refused, but \(loss.text)")
        }
    }

    /// The bytes without the header fields that taking a store over changes and restores: journal mode, change counter
    /// and its copies.
    private static func ownable(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 100 else { return bytes }
        var result = bytes
        for place in [18, 19] + Array(24..<28) + Array(92..<100) { result[place] = 0 }
        return result
    }

    // MARK: - Figures

    private mutating func count(_ detail: String) {
        result.details[detail, default: 0] += 1
    }

    private mutating func note(_ code: Int32, _ command: String, _ process: BoundedProcess) {
        count("\(command): exit \(code)")
        if code != 65 { result.unusual.append("\(command): exit \(code): \(title): \(process.text.prefix(300))") }
    }

    private mutating func fail(_ command: String, _ process: BoundedProcess) {
        switch process.end {
        case .hung, .signal: result.crashed += 1
        case .exit: break
        }
        fail("\(command): \(process.end): \(process.text.suffix(300))")
    }

    private mutating func fail(_ text: String) {
        result.failures.append("\(title): \(text)")
    }
}
