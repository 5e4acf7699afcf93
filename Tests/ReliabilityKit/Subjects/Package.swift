internal import Foundation

/// The places of this package and of its build products.
package enum Package {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The folder of the running program; the build puts every other executable there too.
    package static let buildFolder: String = {
        let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(filePath: program).deletingLastPathComponent().path
    }()

    /// An executable of this package: beside the running program, or in the package's build folder.
    package static func executable(_ name: String) throws -> String {
        try find(name, isExecutable: true)
    }

    /// The library that is loaded into a command with LD_PRELOAD.
    package static func faultShim() throws -> String {
        try find("libCausewayFaultShim.so", isExecutable: false)
    }

    private static func find(_ name: String, isExecutable: Bool) throws -> String {
        let places = [buildFolder, root + "/.build/debug", root + "/.build/release"]
        let files = FileManager.default
        for path in places.map({ $0 + "/" + name })
        where isExecutable ? files.isExecutableFile(atPath: path) : files.fileExists(atPath: path) {
            return path
        }
        throw HarnessError("\(name) isn't in \(places.joined(separator: ", ")): build it first (swift build)")
    }
}
