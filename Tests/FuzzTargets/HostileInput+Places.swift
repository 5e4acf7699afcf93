import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension HostileInput {
    /// Hostile paths, links and folders.
    static let hostilePlaces: [HostileInput] = [
        HostileInput("a symbolic link in the work directory's place") { folder in
            let ground = try HostileGround(folder)
            let elsewhere = folder + "/elsewhere"
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
            try ground.write("precious", to: elsewhere + "/step-1.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/.Store.sqlite.migration", withDestinationPath: elsewhere)
            var run = ground.run(exits: [73])
            run.untouched.append(elsewhere + "/step-1.sqlite")
            return run
        },
        HostileInput("a dangling symbolic link in the work directory's place") { folder in
            let ground = try HostileGround(folder)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/.Store.sqlite.migration", withDestinationPath: folder + "/made")
            var run = ground.run(exits: [73])
            run.forbidden = [folder + "/made"]
            return run
        },
        HostileInput("a work directory that everybody may write") { folder in
            let ground = try HostileGround(folder)
            let work = folder + "/.Store.sqlite.migration"
            try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: work)
            return ground.run(exits: [73])
        },
        HostileInput("a symbolic link for a file of the work directory") { folder in
            let ground = try HostileGround(folder)
            let work = folder + "/.Store.sqlite.migration"
            try FileManager.default.createDirectory(
                atPath: work, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try ground.write("precious", to: folder + "/victim")
            for name in ["lock", "plan.json", "step-1.sqlite", "step-1.sqlite-journal"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(work)/\(name)", withDestinationPath: folder + "/victim")
            }
            var run = ground.run(exits: [0, 73, 74, 76, 77])
            run.untouched.append(folder + "/victim")
            return run
        },
        HostileInput("a folder that everybody may write") { folder in
            let open = folder + "/open"
            try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
            let ground = try HostileGround(open)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
            return ground.run(exits: [73])
        },
        HostileInput("a pipe in the store's place") { folder in
            let ground = try HostileGround(folder)
            try FileManager.default.removeItem(atPath: ground.store)
            guard unsafe mkfifo(ground.store, 0o600) == 0 else { throw HarnessFailure("no pipe can be made") }
            return Run(arguments: ground.migrate, exits: [66], limits: .init(seconds: 10))
        },
        HostileInput("a folder in the store's place") { folder in
            let ground = try HostileGround(folder)
            try FileManager.default.removeItem(atPath: ground.store)
            try FileManager.default.createDirectory(atPath: ground.store, withIntermediateDirectories: true)
            return Run(arguments: ground.migrate, exits: [66])
        },
        HostileInput("a device in the store's place") { folder in
            let ground = try HostileGround(folder)
            return Run(arguments: ["migrate", "/dev/zero", "--models", ground.models], exits: [66])
        },
        HostileInput("noise in the rollback journal") { folder in
            let ground = try HostileGround(folder)
            var random = SeededRandom(3)
            let noise = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            try ground.write(noise, to: ground.store + "-journal")
            return ground.run(exits: [0, 65, 74, 75, 76])
        },
        HostileInput("noise in the write-ahead log") { folder in
            let ground = try HostileGround(folder)
            var random = SeededRandom(4)
            let noise = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            try ground.write(noise, to: ground.store + "-wal")
            return ground.run(exits: [0, 65, 74, 75, 76])
        },
        HostileInput("a symbolic link among the external files") { folder in
            let ground = try HostileGround(folder)
            try ground.write("secret", to: folder + "/secret")
            let external = folder + "/.Store_SUPPORT/_EXTERNAL_DATA"
            try FileManager.default.createDirectory(atPath: external, withIntermediateDirectories: true)
            let name = "01234567-89AB-CDEF-0123-456789ABCDEF"
            try FileManager.default.createSymbolicLink(
                atPath: "\(external)/\(name)", withDestinationPath: folder + "/secret")
            var run = ground.run(exits: [0, 65, 74], more: ["--output", folder + "/New.sqlite"])
            run.forbidden = [folder + "/.New_SUPPORT/_EXTERNAL_DATA/" + name]
            return run
        },
    ]
}
