import Foundation
import Testing

@testable import CausewayPlatform

@Suite("Writing early")
struct WritebackTests {
    #if os(Linux)
        @Test("a file grows as before while it is written early, and no descriptor stays")
        func grows() throws {
            let path = NSTemporaryDirectory() + "causeway-writeback-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let file = try OpenFile(path, mode: .createNew)
            let before = try descriptors(of: path)
            do {
                let writeback = try Writeback(of: path)
                #expect(try descriptors(of: path) == before + 1)
                for page in 0..<256 {
                    let bytes = [UInt8](repeating: UInt8(page), count: 4_096)
                    try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, at: Int64(page) * 4_096) }
                    if page % 64 == 0 { Pause.rest(milliseconds: 25) }
                }
                #expect(writeback.hold() == nil)
                writeback.release()
                // Ended, it still has the file open: whose locks matter decides when it goes.
                writeback.end()
                #expect(try descriptors(of: path) == before + 1)
            }
            #expect(try descriptors(of: path) == before)
            let expected = Data((0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 4_096) })
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == expected)
        }

        /// How often this process has the file open.
        private func descriptors(of path: String) throws -> Int {
            let folder = "/proc/self/fd"
            // Descriptors of other tests come and go meanwhile.
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasSuffix(
                    (path as NSString).lastPathComponent) ?? false
            }
        }
    #endif

    @Test("a file that isn't there, or that a link stands for, is refused")
    func refused() throws {
        let path = NSTemporaryDirectory() + "causeway-writeback-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: FileError.self) { try Writeback(of: path) }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        #expect(throws: FileError.self) { try Writeback(of: path) }
    }
}
