package import CausewaySQLite
internal import Foundation

/// Whether SQLite finds a store sound, also where a bound on its memory stands for a moment.
///
/// Such a bound counts for the whole process (`MemoryBound`): what runs beside a harness in this one may just have set
/// one. A page for which there was no memory isn't an error of the check but a finding, `error code=7`, as damage is.
package enum SoundnessCheck {
    /// - Parameter connection: to the store.
    /// - Returns: what is wrong; nil for a sound store.
    /// - Throws: `.outOfMemory` where memory was missing; what else keeps SQLite from checking.
    package static func fault(_ connection: borrowing Connection) throws(SQLiteError) -> String? {
        var check = try connection.prepare("PRAGMA integrity_check(5)")
        var findings: [String] = []
        while try check.step() { findings.append(try check.string(at: 0) ?? "") }
        return try fault(in: findings)
    }

    /// What the check's rows say.
    package static func fault(in findings: [String]) throws(SQLiteError) -> String? {
        let text = findings.joined(separator: "; ")
        if text.contains("error code=\(ResultCode.outOfMemory.rawValue)") {
            throw SQLiteError(code: .outOfMemory, message: text)
        }
        return findings == ["ok"] ? nil : "integrity_check: \(text)"
    }

    /// Reads again while memory is missing; what can't be read for five seconds stays so.
    package static func retrying<Value>(_ read: () throws -> Value) throws -> Value {
        for _ in 0..<50 {
            do {
                return try read()
            } catch let error as SQLiteError where error.code == .outOfMemory {
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
        return try read()
    }
}
