import CausewayDeflate
import CausewaySQLite
import Foundation

extension HostileInput {
    /// Store files with hostile rows.
    static let hostileRows: [HostileInput] = [
        HostileInput("metadata that expand without end") { folder in
            let ground = try HostileGround(folder)
            try ground.replace("UPDATE Z_METADATA SET Z_PLIST = ?", with: Bomb.propertyList(levels: 40))
            return ground.run(exits: [65])
        },
        HostileInput("metadata that contain themselves") { folder in
            let ground = try HostileGround(folder)
            try ground.replace("UPDATE Z_METADATA SET Z_PLIST = ?", with: Bomb.cyclicPropertyList())
            return ground.run(exits: [65])
        },
        HostileInput("metadata that announce more than there is") { folder in
            let ground = try HostileGround(folder)
            try ground.replace("UPDATE Z_METADATA SET Z_PLIST = ?", with: Bomb.hugeCountPropertyList())
            return ground.run(exits: [65])
        },
        HostileInput("200,000 rows of metadata") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                """
                WITH RECURSIVE c(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM c LIMIT 200000) \
                INSERT INTO Z_METADATA SELECT x, 'u', zeroblob(10) FROM c
                """
            ])
            return ground.run(exits: [65])
        },
        HostileInput("a model cache that inflates a thousandfold") { folder in
            let ground = try HostileGround(folder)
            try ground.replace("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", with: try Bomb.deflated.get())
            // The models have the version: the cache isn't needed, and is written anew.
            return ground.run(exits: [0, 65])
        },
        HostileInput("a model cache that inflates a thousandfold and is needed") { folder in
            let ground = try HostileGround(folder)
            try ground.replace("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", with: try Bomb.deflated.get())
            try FileManager.default.removeItem(atPath: ground.models + "/v1.xcdatamodel")
            return ground.run(exits: [65, 78])
        },
        HostileInput("numbers of entities that no entity has") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["UPDATE ZNOTE SET Z_ENT = 9223372036854775807"])
            return ground.run(exits: [65])
        },
        HostileInput("keys at the ends of the number range") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "UPDATE ZNOTE SET Z_PK = 9223372036854775807 WHERE Z_PK = 1",
                "UPDATE ZNOTE SET Z_PK = -9223372036854775808 WHERE Z_PK = 2",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
            ])
            return ground.run(exits: [0, 65])
        },
        HostileInput("texts, reals and blobs where numbers belong") { folder in
            let ground = try HostileGround(folder)
            try ground.edit([
                "UPDATE ZNOTE SET ZSIZE = 'twelve', Z_OPT = 1.5, ZFOLDER = x'00ff', ZTEXT = 9e999",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 'much', Z_SUPER = x'01'",
            ])
            return ground.run(exits: [0, 65])
        },
        HostileInput("text that is no UTF-8 in names of entities") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["UPDATE Z_PRIMARYKEY SET Z_NAME = CAST(x'ff1b5b324afe' AS TEXT)"])
            return ground.run(exits: [0, 65])
        },
        HostileInput("escape sequences in names of entities") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["UPDATE Z_PRIMARYKEY SET Z_NAME = 'N' || char(27) || '[2J' || char(8238), Z_SUPER = 7"])
            return ground.run(exits: [65])
        },
        HostileInput("the store's UUID is a script") { folder in
            let ground = try HostileGround(folder)
            try ground.edit(["UPDATE Z_METADATA SET Z_UUID = '../../../../etc/passwd' || char(27)"])
            return ground.run(exits: [65])
        },
    ]
}

extension HostileGround {
    /// Runs a statement with the bytes as its parameter.
    func replace(_ sql: String, with bytes: [UInt8]) throws {
        let connection = try Connection(path: store, mode: .readWrite, hardening: .own)
        var statement = try connection.prepare(sql)
        try statement.bind(bytes, at: 1)
        try statement.run()
    }
}

/// A few bytes that expand to very many.
enum Bomb {
    /// A binary property list of nested arrays; each holds the next one ten times: 10^levels leaves.
    static func propertyList(levels: Int) -> [UInt8] {
        var objects: [[UInt8]] = []
        for level in 0..<levels { objects.append([0xAA] + Array(repeating: UInt8(level + 1), count: 10)) }
        objects.append([0x51, 0x61])
        return list(objects)
    }

    static func cyclicPropertyList() -> [UInt8] { list([[0xA1, 1], [0xA1, 0]]) }

    /// An array of 2^62 elements.
    static func hugeCountPropertyList() -> [UInt8] { list([[0xAF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0, 0]]) }

    private static func list(_ objects: [[UInt8]]) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets
        // Unused bytes, then the sizes of offsets and references, object count, top object, and the offset table's
        // place.
        bytes += [0, 0, 0, 0, 0, 0, 2, 1] + bigEndian(objects.count) + bigEndian(0) + bigEndian(table)
        return bytes
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// 200 MiB of zeros in raw DEFLATE: over every limit, in 200 kB. Made once, because it takes a second.
    static let deflated = Result { () throws(DeflateError) in
        try RawDeflate.deflate([UInt8](repeating: 0, count: 200 << 20))
    }
}
