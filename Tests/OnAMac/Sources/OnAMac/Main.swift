#if canImport(CoreData)
    import Foundation

    /// What the scripts call; README.md beside this package says how.
    @main
    struct OnAMac {
        static let usage = """
            usage: OnAMac check STORE MODELS [--source STORE] [--causeway BINARY]
                   OnAMac templates MODELS FOLDER

            check      has Core Data open the store as it is, walk all objects and links, and save a change to a copy;
                       with --source, has Core Data migrate that store to the same version, and compares the results
            templates  has Core Data write one empty store for every version, for --schema-template FOLDER
            MODELS     a compiled .momd or .mom (xcrun momc X.xcdatamodeld X.momd)
            """

        static func main() {
            do {
                exit(try run(Array(CommandLine.arguments.dropFirst())))
            } catch {
                let known = (error as? Failure)?.description
                let reason = known ?? "\((error as NSError).domain) \((error as NSError).code)"
                FileHandle.standardError.write(Data("error: \(reason)\n".utf8))
                exit(70)
            }
        }

        private static func run(_ arguments: [String]) throws -> Int32 {
            switch arguments.first {
            case "check" where arguments.count >= 3: return try check(arguments)
            case "templates" where arguments.count == 3:
                let models = try Models(at: URL(filePath: arguments[1]))
                for name in try Templates(models: models).write(to: URL(filePath: arguments[2])) { print(name) }
                return 0
            default:
                FileHandle.standardError.write(Data((usage + "\n").utf8))
                return 64
            }
        }

        private static func check(_ arguments: [String]) throws -> Int32 {
            let models = try Models(at: URL(filePath: arguments[2]))
            var check = StoreCheck(store: URL(filePath: arguments[1]), models: models)
            var rest = arguments.dropFirst(3)
            while let option = rest.popFirst() {
                guard let value = rest.popFirst() else { throw Failure("\(option) needs a value") }
                switch option {
                case "--source": check.source = URL(filePath: value)
                case "--causeway": check.causeway = URL(filePath: value)
                default: throw Failure("no option \(option)")
                }
            }
            let lines = check.run { line in
                print(line.text)
                fflush(stdout)
            }
            return lines.contains { $0.outcome == .failed } ? 1 : 0
        }
    }

    /// What went wrong, for a person.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
#else
    /// So that the package builds where there is nothing for it to do.
    @main
    struct OnAMac {
        static func main() {
            print("OnAMac needs Core Data, which this system doesn't have: run it on a Mac.")
        }
    }
#endif
