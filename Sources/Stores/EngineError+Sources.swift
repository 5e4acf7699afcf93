import CausewayModel
import CausewayObjects
import CausewayPlanning
package import CausewayPlatform
package import CausewaySQLite
package import CausewayStoreFormat

/// Turns errors of the lower layers into kinds of failure.
extension EngineError {
    /// SQLite failed while the source was read.
    package init(reading error: SQLiteError, during what: String) {
        if let refused = error.unsafeUse {
            self.init(
                .sourceData,
                "\(what): \(refused.object), of the app's own, calls \(refused.function), which SQLite lets no schema call",
                remedy: "drop \(refused.object) in a copy of the store, with the program that made it, then run again")
            return
        }
        if let missing = error.missingStandIn {
            self.init(
                .sourceData, "\(what): the schema needs \(missing.sentence), which only the app has",
                remedy: "drop what uses it in a copy of the store, with the program that made it, then run again")
            return
        }
        switch error.code {
        case .busy, .locked:
            self.init(
                .busy, "\(what): the store is in use", remedy: "close the application that uses it, then run again")
        case .interrupted:
            self.init(.interrupted, "\(what): interrupted")
        case _ where error.isDamage:
            self.init(
                .sourceData, "\(what): the store is damaged: \(error.message)",
                remedy: "restore a backup, or save what can be read with causeway export --salvage")
            isOfPages = true
        case .tooBig:
            self.init(
                .sourceData, "\(what): a value is larger than SQLite takes (1 GiB)",
                remedy: "shorten it in a copy of the store, then run again")
        case .permission, .cannotOpen, .notAuthorized:
            self.init(.missing, "\(what): \(error)", remedy: "check the path and its permissions")
        case .readOnly where error.code != .readOnlyRollback:
            self.init(
                .cannotCreate, "\(what): the store or its folder can't be written",
                remedy: "change the permissions, or write the result elsewhere with --output")
        case .readOnlyRollback:
            self.init(
                .sourceData, "\(what): the store holds an unfinished transaction that must be rolled back first",
                remedy: "open it once with the application or with sqlite3, then run again")
        default:
            self.init(.inputOutput, "\(what): \(error)")
        }
    }

    /// What was written to the new store may not be on its medium.
    package init(losing reason: some CustomStringConvertible, during what: String) {
        self.init(
            .inputOutput, "\(what): \(reason)",
            remedy: "check the disk, then run again: the run repeats what the disk may have lost")
        isFailedSync = true
    }

    /// SQLite failed while the new store was written.
    package init(writing error: SQLiteError, during what: String) {
        switch error.code {
        case .full:
            self.init(.inputOutput, "\(what): the disk is full", remedy: "make room, then run again")
        case .interrupted:
            self.init(.interrupted, "\(what): interrupted")
        case .constraint:
            self.init(
                .sourceData, "\(what): \(error.message)",
                remedy: "the rows break a constraint of the new version; fix them in the source, then run again")
        case .ioErrorSync, .ioErrorDirectorySync:
            self.init(losing: error, during: what)
        case .corrupt, .notADatabase:
            // A store damaged by disk or memory isn't resumed, or every run would end here.
            self.init(
                .inputOutput, "\(what): the new store is damaged: \(error.message)",
                remedy: "check the disk and the memory, then run again: the step starts over")
            (isFailedSync, isDamage) = (true, true)
        default:
            self.init(.inputOutput, "\(what): \(error)")
        }
    }

    /// A file or folder can't be read: it is missing or out of reach, or the system failed, which says nothing about
    /// the file.
    package init(reading error: FileError, at path: String, _ what: String = "can't be read") {
        let isOfPath = [.notFound, .permissionDenied, .notADirectory, .isADirectory].contains(error.code)
        self.init(
            error.isOfSystem ? .inputOutput : .missing,
            "\(path): \(what): \(isOfPath ? error.reason : error.message)",
            remedy: isOfPath ? "check the path and its permissions" : "")
    }

    /// SQLite couldn't make the file.
    package init(creating error: SQLiteError, at path: String) {
        switch error.code {
        case .ioError, .full, .outOfMemory: self.init(writing: error, during: path)
        default:
            self.init(.cannotCreate, "\(path): \(error)", remedy: "check that the folder can be written")
        }
    }

    /// The source isn't a store that can be migrated.
    package init(_ error: StoreFormatError, path: String) {
        if let cause = error.cause, cause.isOfSystem {
            self.init(reading: cause, during: path)
            return
        }
        switch error.code {
        case .unusableModel: self.init(.plan, "\(path): \(error)")
        default: self.init(.sourceData, "\(path): \(error)")
        }
    }
}

extension EngineError {
    /// Any failure while reading, as its kind.
    package init(_ error: any Error, during what: String) {
        switch error {
        case let error as EngineError: self = error
        case let error as SQLiteError: self.init(reading: error, during: what)
        case let error as ObjectError: self.init(error, during: what)
        case let error as StoreFormatError: self.init(error, path: what)
        case let error as ModelError:
            self.init(
                error.code == .unreadable || error.code == .notAModel ? .missing : .plan, error.description,
                remedy: "check the models")
        case let error as PlanError: self.init(.plan, "\(what): \(error)")
        case let error as PathError: self.init(.plan, "\(what): \(error)")
        case let error as FileError: self.init(.inputOutput, "\(what): \(error.message)")
        default: self.init(.verification, "\(what): \(error)")
        }
    }
}

/// One line where something may fail: the error says at what place.
extension EngineError {
    /// Whatever fails, as the kind that it is; a call to the file system as `kind`, unless the disk or the system is
    /// the reason: a file that can't be made because the disk is full isn't its folder's fault.
    @discardableResult
    package static func at<Value: ~Copyable>(
        _ place: @autoclosure () -> String, as kind: Kind = .inputOutput, remedy: String = "",
        _ body: () throws -> Value
    ) throws(EngineError) -> Value {
        do {
            return try body()
        } catch let error as FileError {
            // The caller's remedy thinks of the path where a file can't be made, and of room where one is written.
            let isOfSystem = kind == .cannotCreate && error.isOfSystem
            let isExpected = kind == .cannotCreate ? !error.isOfSystem : error.code == .noSpace
            let takesOwn = remedy.isEmpty || !isExpected
            throw EngineError(
                isOfSystem ? .inputOutput : kind, "\(place()): \(takesOwn ? error.message : error.reason)",
                remedy: takesOwn ? "" : remedy)
        } catch {
            throw EngineError(error, during: place())
        }
    }

    /// Something that had to be read, and is the user's.
    package static func reading<Value: ~Copyable>(
        _ place: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(EngineError) -> Value {
        do {
            return try body()
        } catch let error as FileError {
            throw EngineError(reading: error, at: place())
        } catch {
            throw EngineError(error, during: place())
        }
    }

    /// Statements that write the new store.
    package static func writing<Value: ~Copyable>(
        _ place: @autoclosure () -> String, _ body: () throws -> Value
    ) throws(EngineError) -> Value {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw EngineError(writing: error, during: place())
        } catch {
            throw EngineError(error, during: place())
        }
    }
}

extension StandIn {
    fileprivate var sentence: String {
        switch self {
        case .function(let name): "the function \(name)"
        case .collation(let name): "the collating sequence \(name)"
        }
    }
}
