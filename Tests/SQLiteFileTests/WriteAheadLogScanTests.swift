import CausewayPlatform
import CausewaySQLiteFile
import Foundation
import Testing

@Suite("Write-ahead logs are read as SQLite's recovery reads them", .timeLimit(.minutes(60)))
struct WriteAheadLogScanTests {
    /// A log of one generation: commits with these numbers of frames; the last one may be incomplete.
    struct Log {
        static let pageSize = 512
        var bytes: [UInt8]
        static let frameLength = 24 + pageSize

        init(commits: [Int], hasOpenTransaction: Bool = false, isBigEndian: Bool = true, salt: UInt32 = 7) {
            var sum: (UInt32, UInt32) = (0, 0)
            var header = Self.words([isBigEndian ? 0x377f_0683 : 0x377f_0682, 3_007_000, 512, 0, salt, salt &* 31])
            Self.add(header, isBigEndian, &sum)
            header += Self.words([sum.0, sum.1])
            bytes = header
            for (index, frames) in commits.enumerated() {
                for frame in 1...frames {
                    let isEnd = frame == frames && !(hasOpenTransaction && index == commits.count - 1)
                    let head = Self.words([UInt32(frame + index), isEnd ? 40 : 0])
                    let page = (0..<Self.pageSize).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index &+ frame &* 3) }
                    Self.add(head + page, isBigEndian, &sum)
                    bytes += head + Self.words([salt, salt &* 31, sum.0, sum.1]) + page
                }
            }
        }

        static func words(_ words: [UInt32]) -> [UInt8] {
            words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
        }

        private static func add(_ bytes: [UInt8], _ isBigEndian: Bool, _ sum: inout (UInt32, UInt32)) {
            func word(_ offset: Int) -> UInt32 {
                let part = bytes[offset..<offset + 4]
                return (isBigEndian ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
            }
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                sum.0 = sum.0 &+ word(offset) &+ sum.1
                sum.1 = sum.1 &+ word(offset + 4) &+ sum.0
            }
        }

        func frame(_ number: Int) -> Range<Int> {
            let start = 32 + (number - 1) * Self.frameLength
            return start..<start + Self.frameLength
        }

        /// Flips a bit of a frame's page.
        func damaged(_ number: Int) -> Log {
            var log = self
            log.bytes[frame(number).lowerBound + 100] ^= 4
            return log
        }

        /// Overwrites the log's first frames, as a later generation does, or as after a rollback.
        func overwritten(by other: Log) -> Log {
            var log = self
            log.bytes.replaceSubrange(0..<other.bytes.count, with: other.bytes)
            return log
        }

        var scan: WriteAheadLogScan {
            var scan = WriteAheadLogScan(header: Array(bytes.prefix(32)), pageSize: Self.pageSize)
            var offset = 32
            while offset + scan.frameLength <= bytes.count {
                unsafe bytes[offset..<offset + scan.frameLength].withUnsafeBytes { unsafe scan.add($0) }
                offset += scan.frameLength
            }
            return scan
        }
    }

    @Test("a whole log has all its commits", arguments: [true, false])
    func whole(isBigEndian: Bool) {
        let scan = Log(commits: [1, 3, 2], isBigEndian: isBigEndian).scan
        #expect(scan.readableCommits == 3)
        #expect(scan.unreadableFrames == 0)
    }

    @Test("frames after one with a wrong checksum are counted", arguments: [true, false])
    func damage(isBigEndian: Bool) {
        let log = Log(commits: [1, 3, 2, 2], isBigEndian: isBigEndian)
        for (frame, commits, frames) in [(1, 0, 8), (2, 1, 7), (4, 1, 7), (5, 2, 4), (6, 2, 4), (7, 3, 2)] {
            let scan = log.damaged(frame).scan
            #expect(scan.readableCommits == commits, "frame \(frame)")
            #expect(scan.unreadableFrames == frames, "frame \(frame)")
        }
    }

    @Test("every byte of a frame that is changed breaks the log there", arguments: [3])
    func everyByte(frame: Int) {
        let log = Log(commits: [1, 3, 2])
        for place in log.frame(frame) {
            var broken = log
            broken.bytes[place] ^= 0x10
            #expect(broken.scan.readableCommits == 1, "byte \(place)")
            #expect(broken.scan.unreadableFrames == 5, "byte \(place)")
        }
    }

    @Test("a frame that never reached the disk breaks the log like a damaged one")
    func hole() {
        var log = Log(commits: [1, 3])
        log.bytes.replaceSubrange(log.frame(2), with: [UInt8](repeating: 0, count: Log.frameLength))
        #expect(log.scan.readableCommits == 1)
        #expect(log.scan.unreadableFrames == 3)
    }

    @Test("a header that fails its checksum makes all frames unreadable")
    func header() {
        var log = Log(commits: [1, 2])
        for place in 0..<32 {
            let kept = log.bytes[place]
            log.bytes[place] ^= 0x21
            #expect(log.scan.readableCommits == 0, "byte \(place)")
            #expect(log.scan.unreadableFrames == 3, "byte \(place)")
            log.bytes[place] = kept
        }
    }

    @Test("a torn last commit isn't reported: its last frame is damaged, cut, or was never written")
    func torn() {
        let log = Log(commits: [2, 3])
        var cut = log
        cut.bytes.removeLast(100)
        for log in [log.damaged(5), cut, Log(commits: [2, 3], hasOpenTransaction: true)] {
            #expect(log.scan.readableCommits == 1)
            #expect(log.scan.unreadableFrames == 0)
        }
    }

    @Test("a stale tail of an earlier generation isn't reported, wherever it begins")
    func stale() {
        let old = Log(commits: [2, 2, 2], salt: 6)
        for commits in [[1], [2], [1, 2], [3, 2]] {
            let scan = old.overwritten(by: Log(commits: commits, salt: 7)).scan
            #expect(scan.readableCommits == commits.count)
            #expect(scan.unreadableFrames == 0)
        }
    }

    @Test("frames of a rolled-back transaction aren't reported: they have no commit frame")
    func rolledBack() {
        let scan = Log(commits: [2, 6], hasOpenTransaction: true).overwritten(by: Log(commits: [2, 1])).scan
        #expect(scan.readableCommits == 2)
        #expect(scan.unreadableFrames == 0)
    }

    @Test("empty and tiny files, and files of zeros, aren't reported", arguments: [0, 1, 31, 32, 40, 600, 5_000])
    func tiny(count: Int) {
        let log = Log(commits: [3, 3, 3])
        for bytes in [Array(log.bytes.prefix(count)), [UInt8](repeating: 0, count: count)] {
            var log = log
            log.bytes = bytes
            #expect(log.scan.unreadableFrames == 0)
        }
    }

    /// The first commit has pages 1 to 3, the second 2 and 3, the third 3 to 6.
    @Test("the newest pages are those of the last commit that has ended", arguments: [false, true])
    func newestPages(isOpen: Bool) throws {
        let path = NSTemporaryDirectory() + "log-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(Log(commits: [3, 2, 4], hasOpenTransaction: isOpen).bytes).write(to: URL(filePath: path))
        let file = try OpenFile(path, mode: .read)
        let scan = try WriteAheadLogScan(of: file, pageSize: Log.pageSize, collectsPages: true)
        let found = (0...7).map { scan.newest[$0] }
        #expect(found == (isOpen ? [nil, 1, 4, 5, nil, nil, nil, nil] : [nil, 1, 4, 6, 7, 8, 9, nil]))
        #expect(scan.newest[2_000_000] == nil && scan.newest[-1] == nil && scan.newest[.max] == nil)
        #expect(try WriteAheadLogScan(of: file, pageSize: Log.pageSize).newest[1] == nil)
    }
}
