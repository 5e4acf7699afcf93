package import CausewayPlatform

/// How far a `-wal` can be read, by the rules of SQLite's own recovery
/// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log), and whether more of the same generation follows.
///
/// Recovery ends at the first frame whose salts or checksum don't fit. Three things are normal there: frames of an
/// earlier generation, which have other salts; an incomplete last commit with nothing after it; and frames of a
/// transaction that was rolled back after some of it had been written, none of which ends a commit. Frames of this
/// generation after that point that end a commit aren't normal: a power loss leaves such a file, and so does damage;
/// they can't be distinguished.
///
/// Fed frame by frame; keeps a few numbers, and where the newest pages are if that is asked for: some five bytes for a
/// page of those beside each other, and eight for each frame of the last commit. Linear in the file's bytes.
package struct WriteAheadLogScan {
    /// Bytes of the file's header.
    package static let headerLength = 32
    /// Bytes of a frame, its page included.
    package let frameLength: Int

    /// The size of its pages according to a header with the right checksum; nil where it can't be trusted.
    package let statedPageSize: Int?

    /// Commits that recovery reads.
    package private(set) var readableCommits = 0

    private static let frameHeaderLength = 24
    private static let magic: UInt32 = 0x377f_0682

    /// Salts of the generation; of the first frame that has some, where the header can't be trusted.
    private var salts: UInt64?
    private let isBigEndian: Bool
    private var checksum = Checksum()
    /// Whether every frame so far is one that recovery takes.
    private var isUnbroken: Bool
    private var frames = 0
    /// Numbers of frames, counted from 1: the last readable commit's, and that of the generation's last frame.
    private var lastCommit = 0
    private var lastOfGeneration = 0
    /// The frame at which recovery ends, and whether one of the generation from there on ends a commit.
    private var breakFrame = 0
    private var endsCommitBeyond = false
    /// Whether a frame of another generation ends a commit.
    private var endsOtherCommit = false

    /// The frames of the newest pages that commits have brought, counted from 1; none where nobody asks.
    package private(set) var newest = FrameNumbers()
    /// Pages of the database after the last commit that recovery reads; 0 before the first.
    package private(set) var pageCount = 0
    private let collectsPages: Bool
    /// What the commit that hasn't ended yet has replaced.
    private var replaced: [(page: UInt32, frame: UInt32)] = []

    /// Begins with the file's header.
    ///
    /// - Parameters:
    ///   - header: the file's first bytes.
    ///   - pageSize: the database's, for frames after a header that SQLite refuses.
    ///   - collectsPages: whether to keep where the newest pages are.
    package init(header: [UInt8], pageSize: Int, collectsPages: Bool = false) {
        self.collectsPages = collectsPages
        func word(_ offset: Int) -> UInt32 {
            guard header.count >= offset + 4 else { return 0 }
            return header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        let isBigEndian = word(0) & 1 == 1
        self.isBigEndian = isBigEndian
        let size = Int(word(8))
        let hasSize = size >= 512 && size <= 65_536 && size & (size - 1) == 0
        var checksum = Checksum()
        unsafe header.withUnsafeBytes { bytes in
            guard bytes.count >= Self.headerLength else { return }
            unsafe checksum.add(UnsafeRawBufferPointer(rebasing: bytes[..<24]), isBigEndian: isBigEndian)
        }
        isUnbroken =
            header.count >= Self.headerLength && word(0) & ~1 == Self.magic && hasSize
            && checksum == Checksum(first: word(24), second: word(28))
        statedPageSize = isUnbroken ? size : nil
        frameLength = Self.frameHeaderLength + (isUnbroken ? size : pageSize)
        salts = isUnbroken ? UInt64(word(16)) << 32 | UInt64(word(20)) : nil
        self.checksum = checksum
    }

    /// Frames after the last readable commit that belong to the generation and can't be read; 0 if the end is normal.
    package var unreadableFrames: Int {
        guard endsCommitBeyond, lastOfGeneration > breakFrame else { return 0 }
        return lastOfGeneration - lastCommit
    }

    /// These frames; none where the end is normal.
    package var unreadable: Range<Int> {
        let count = unreadableFrames
        return lastCommit + 1..<lastCommit + 1 + count
    }

    /// Frames where none is of the header's generation, but one ends a commit: the header was written just before a
    /// power loss, and these frames were in the database; or header and frames don't belong together.
    package var otherFrames: Int { lastOfGeneration == 0 && endsOtherCommit ? frames : 0 }

    /// Takes the next frame: `frameLength` bytes.
    package mutating func add(_ frame: UnsafeRawBufferPointer) {
        precondition(frame.count == frameLength, "a frame has one length")
        func word(_ offset: Int) -> UInt32 {
            unsafe UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        frames += 1
        let own = UInt64(word(8)) << 32 | UInt64(word(12))
        if salts == nil, own != 0 { salts = own }
        let endsCommit = word(4) != 0
        if isUnbroken {
            // SQLite counts frames in 32 bits.
            if own == salts, word(0) != 0, frames <= UInt32.max,
                unsafe fits(frame, Checksum(first: word(16), second: word(20)))
            {
                lastOfGeneration = frames
                if collectsPages { replaced.append((word(0), newest.set(UInt32(frames), for: word(0)))) }
                guard endsCommit else { return }
                readableCommits += 1
                lastCommit = frames
                pageCount = Int(word(4))
                replaced.removeAll(keepingCapacity: true)
                return
            }
            isUnbroken = false
            breakFrame = frames
        }
        guard own == salts else {
            if endsCommit { endsOtherCommit = true }
            return
        }
        lastOfGeneration = frames
        if endsCommit { endsCommitBeyond = true }
    }

    /// Ends the scan: pages of a commit that didn't end don't count.
    mutating func end() {
        while let last = replaced.popLast() { newest.set(last.frame, for: last.page) }
    }

    /// Where the page of a frame begins.
    ///
    /// - Parameter frame: counted from 1.
    /// - Returns: the byte of the log.
    package func offset(ofPageIn frame: Int) -> Int64 {
        Int64(Self.headerLength) + Int64(frame - 1) * Int64(frameLength) + Int64(Self.frameHeaderLength)
    }

    private mutating func fits(_ frame: UnsafeRawBufferPointer, _ expected: Checksum) -> Bool {
        unsafe checksum.add(UnsafeRawBufferPointer(rebasing: frame[..<8]), isBigEndian: isBigEndian)
        let page = unsafe UnsafeRawBufferPointer(rebasing: frame[Self.frameHeaderLength...])
        unsafe checksum.add(page, isBigEndian: isBigEndian)
        return checksum == expected
    }

    /// The log's running checksum: two sums over pairs of 32-bit words.
    private struct Checksum: Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// A multiple of eight bytes, in the byte order that the log's magic names.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
            var (first, second) = (first, second)
            for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
                let one = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let other = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
                second &+= (isBigEndian ? UInt32(bigEndian: other) : UInt32(littleEndian: other)) &+ first
            }
            (self.first, self.second) = (first, second)
        }
    }
}

extension WriteAheadLogScan {
    /// Approximate bytes per read.
    private static let pieceLength = 1 << 20

    /// Scans a whole log.
    ///
    /// - Parameters:
    ///   - file: the `-wal`.
    ///   - pageSize: the database's.
    ///   - collectsPages: whether to keep where the newest pages are.
    /// - Throws: where it can't be read.
    package init(of file: borrowing OpenFile, pageSize: Int, collectsPages: Bool = false) throws(FileError) {
        self.init(header: try file.prefix(Self.headerLength), pageSize: pageSize, collectsPages: collectsPages)
        let length = frameLength * max(1, Self.pieceLength / frameLength)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        defer { unsafe piece.deallocate() }
        var offset = Int64(Self.headerLength)
        while true {
            let count = try unsafe file.read(into: piece, at: offset)
            // An incomplete frame at the end doesn't count.
            for start in stride(from: 0, through: count - frameLength, by: frameLength) {
                unsafe add(UnsafeRawBufferPointer(rebasing: piece[start..<start + frameLength]))
            }
            if count < length { break }
            offset += Int64(length)
        }
        end()
    }
}
