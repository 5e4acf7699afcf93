#if canImport(CoreData)
    import CoreData

    /// Whether Core Data takes a store as its own.
    struct StoreCheck {
        let store: URL
        let models: Models
        /// The store before the migration.
        var source: URL?
        /// The tool, which compares.
        var causeway: URL?

        /// One thing that was tried.
        struct Line {
            enum Outcome: String {
                case passed, failed, skipped
            }

            let outcome: Outcome
            let what: String

            /// Of the report.
            var text: String { "- \(outcome.rawValue): \(what)" }
        }

        /// Tries everything; what can't be tried after a failure is skipped. The store itself stays as it is: Core Data
        /// gets copies. `tell` gets each line at once: an exception of Core Data ends the process.
        func run(telling tell: (Line) -> Void) -> [Line] {
            let place = FileManager.default.temporaryDirectory.appending(path: "OnAMac-" + UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: place) }
            var lines: [Line] = []
            func add(_ outcome: Line.Outcome, _ what: String) {
                lines.append(Line(outcome: outcome, what: what))
                tell(lines[lines.count - 1])
            }
            func attempt(_ what: String, _ body: () throws -> String) -> Bool {
                do {
                    add(.passed, "\(what): \(try body())")
                    return true
                } catch {
                    add(.failed, "\(what): \(reason(error))")
                    return false
                }
            }
            var opened: (OpenedStore, String)?
            let isOpen = attempt("Core Data opens it as it is") {
                let version = try models.version(of: store)
                let copy = try StoreFiles(store).copy(to: place.appending(path: "opened"))
                opened = (try OpenedStore(copy, model: version.model), version.name)
                return "version \(version.name)"
            }
            if isOpen, let (opened, _) = opened {
                _ = attempt("walking all objects and links") { try opened.walk().text }
                _ = attempt("saving a change and reading it back") { try opened.saveChange() }
            } else {
                add(.skipped, "walking and saving: it isn't open")
            }
            if let source, let causeway {
                _ = attempt("Core Data's own migration gives the same") {
                    try migrate(source, in: place.appending(path: "migrated"), comparedBy: causeway)
                }
            } else {
                add(.skipped, "Core Data's own migration: no --source and --causeway")
            }
            return lines
        }

        /// What went wrong, without the values that an error of Core Data carries.
        private func reason(_ error: any Error) -> String {
            if let failure = error as? Failure { return failure.description }
            let error = error as NSError
            let key = error.userInfo[NSValidationKeyErrorKey] as? String
            return "\(error.domain) \(error.code)" + (key.map { " (\($0))" } ?? "")
        }

        /// Core Data migrates a copy of the source in one inferred step, as an app with the last model does; then
        /// `causeway compare` says whether the two stores are equal. Where the path has steps that drop and add again,
        /// the two may rightly differ.
        private func migrate(_ source: URL, in folder: URL, comparedBy causeway: URL) throws -> String {
            let copy = try StoreFiles(source).copy(to: folder)
            let version = try models.version(of: store)
            let opened = try OpenedStore(copy, model: version.model, migrates: true)
            try opened.close()
            let process = Process()
            process.executableURL = causeway
            process.arguments = ["compare", store.path, copy.path]
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let text = String(decoding: output, as: UTF8.self)
            guard process.terminationStatus == 0 else {
                throw Failure("compare ends with \(process.terminationStatus):\n\(text)")
            }
            return "equal"
        }
    }
#endif
