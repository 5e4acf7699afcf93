import ArgumentParser
import CausewayReliabilityKit

/// A process of the concurrency harness: an application that writes rows.
struct WriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "writer", shouldDisplay: false)

    @Option var store: String
    @Option(name: .customLong("while")) var whileExists: String
    @Option var acknowledge: String
    @Option var name: String
    @Option var style: String
    @Option var busyTimeout: Int32
    @Option var seed: UInt64

    func run() throws {
        guard let style = StoreWriter.Style(rawValue: style) else {
            throw ValidationError(
                "--style is one of \(StoreWriter.Style.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        try StoreWriter(
            store: store, acknowledgements: acknowledge, whileExists: whileExists, name: name, style: style,
            busyTimeout: busyTimeout, seed: seed
        ).run()
    }
}

/// A process of the concurrency harness: an application that reads rows.
struct ReaderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reader", shouldDisplay: false)

    @Option var store: String
    @Option(name: .customLong("while")) var whileExists: String
    @Option var seed: UInt64

    func run() throws {
        try StoreReader(store: store, whileExists: whileExists, seed: seed).run()
    }
}
