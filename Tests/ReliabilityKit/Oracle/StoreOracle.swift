internal import CausewaySQLite
internal import Foundation

/// The results of undisturbed runs: the store before and after. Everything else is compared with them.
package struct StoreOracle: Sendable {
    package let old: StoreDigest
    package let new: StoreDigest

    package init(old: StoreDigest, new: StoreDigest) {
        self.old = old
        self.new = new
    }

    /// What an application finds at the store's path.
    package enum View: Hashable, Sendable {
        case old
        case new
        /// Neither; the text says why.
        case broken(String)
    }

    package func view(_ store: String) -> View {
        do {
            let digest = try SoundnessCheck.retrying { try StoreDigest(store) }
            if digest == new { return .new }
            if digest == old { return .old }
            let toOld = digest.differences(from: old)
            let toNew = digest.differences(from: new)
            let nearer = toOld.count < toNew.count ? ("old", toOld) : ("new", toNew)
            return .broken("neither old nor new; from the \(nearer.0) one: \(nearer.1.joined(separator: "; "))")
        } catch {
            return .broken("\(error)")
        }
    }

    /// What is wrong with a folder in which a migration has succeeded: the store must be the new one, the original must
    /// lie beside it, and there may be no other files.
    ///
    /// - Parameters:
    ///   - folder: the store's.
    ///   - needsBackup: false where the store was new before the run that ended.
    /// - Returns: what is wrong, as text; empty if nothing is.
    package func faults(inFinished folder: String, needsBackup: Bool = true) -> [String] {
        var faults: [String] = []
        let store = folder + "/" + Subject.storeName
        switch view(store) {
        case .new: break
        case .old: faults.append("the store is still the old one")
        case .broken(let why): faults.append("the store: \(why)")
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        } catch {
            return faults + ["\(error)"]
        }
        let backups = names.filter { Self.isBackup($0) }
        for name in names where name != Subject.storeName && name != Subject.supportName && !Self.isBackup(name) {
            faults.append("\(name) is left over")
        }
        if backups.isEmpty, needsBackup { faults.append("there is no backup") }
        if backups.count > 1 { faults.append("there are \(backups.count) backups") }
        for name in backups where view(folder + "/" + name, externalsOf: store) != .old {
            faults.append("\(name) isn't the old store: \(view(folder + "/" + name, externalsOf: store))")
        }
        return faults
    }

    /// A backup's rows refer to the files beside the store.
    private func view(_ backup: String, externalsOf store: String) -> View {
        do {
            let digest = try SoundnessCheck.retrying { try StoreDigest(backup, externalsOf: store) }
            return digest == old ? .old : .broken(digest.differences(from: old).joined(separator: "; "))
        } catch {
            return .broken("\(error)")
        }
    }

    private static func isBackup(_ name: String) -> Bool { name.hasPrefix(Subject.storeName + ".premigration") }
}
