import ArgumentParser
import Causeway

/// Who does the work.
enum Contender: String, Encodable {
    case pages, statements
    case sql = "SQL by hand"
    case vacuum = "VACUUM INTO"
    case copy = "cp"
    case copyAndAlter = "cp, ALTER/UPDATE"
    case cloneAndAlter = "clone, ALTER/UPDATE"
    case sqliteUtils = "sqlite-utils transform"

    /// As the command line names them.
    static let names: [String: Contender] = [
        "pages": .pages, "statements": .statements, "sql": .sql, "vacuum": .vacuum, "cp": .copy,
        "cp-alter": .copyAndAlter, "clone-alter": .cloneAndAlter, "sqlite-utils": .sqliteUtils,
    ]

    /// Why it can't take part on this machine; nil where it can.
    var absence: String? {
        let programs: [String] =
            switch self {
            case .pages, .statements: []
            case .copy: ["cp"]
            case .sql, .vacuum: ["sqlite3"]
            case .copyAndAlter, .cloneAndAlter: ["cp", "sqlite3"]
            case .sqliteUtils: ["cp", "sqlite-utils"]
            }
        let missing = programs.filter { Programs.find($0) == nil }
        return missing.isEmpty ? nil : "\(missing.joined(separator: ", ")) isn't installed"
    }

    /// Whether its result must have the rows that the migration makes; a copy has the old ones.
    var makesRows: Bool {
        switch self {
        case .vacuum, .copy: false
        case .pages, .statements, .sql, .copyAndAlter, .cloneAndAlter, .sqliteUtils: true
        }
    }

    /// The migration's engine; nil for other programs.
    var engine: EngineChoice? {
        switch self {
        case .pages: .pages
        case .statements: .statements
        case .sql, .vacuum, .copy, .copyAndAlter, .cloneAndAlter, .sqliteUtils: nil
        }
    }
}

/// A contender with the work that it does: one line of a table.
struct Entrant {
    var contender: Contender
    var change: Archive.Change
    var steps = 1
    /// Of migrations only.
    var verification = VerificationChoice.quick
    /// Further arguments of the migration.
    var flags: [String] = []
    /// What the migration's process gets beside its arguments.
    var environment: [String: String] = [:]

    /// Its name in a table.
    var label: String {
        let name = [contender.rawValue] + (verification == .quick ? [] : ["--verify", verification.rawValue]) + flags
        return name.joined(separator: " ") + (environment.isEmpty ? "" : ", without checkpoints")
    }

    /// The work alone.
    var task: ArchiveTask { ArchiveTask(change: change, steps: steps) }
}

/// What becomes of the store, whoever does it.
struct ArchiveTask: Hashable, Encodable {
    var change: Archive.Change
    var steps: Int
}

/// `MigrationOptions.verification` on the command line.
enum VerificationChoice: String, ExpressibleByArgument, CaseIterable {
    case none, quick, full

    var level: MigrationOptions.Verification {
        switch self {
        case .none: .none
        case .quick: .quick
        case .full: .full
        }
    }
}
