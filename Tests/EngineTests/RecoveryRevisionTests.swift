import CausewayCheckpoint
import CausewayEngine
import CausewayPlatform
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

/// Unfinished work of an earlier revision of the tool: finished where only the swap is left, refused otherwise.
@Suite("Recovery: work of an earlier revision", .timeLimit(.minutes(60)))
struct RecoveryRevisionTests {
    /// Points of the protocol, and which time counts: the chain of two steps reaches some of them twice.
    static let whenComplete: [(KillPoint, Int)] = [
        (.verifiedWritten, 2), (.stepHandedOver, 1), (.sealed, 2), (.stagingSynced, 1), (.intentWritten, 1),
        (.backupLinked, 1),
    ]
    static let whenIncomplete: [(KillPoint, Int)] = [
        (.stagingCreated, 1), (.verified, 1), (.verified, 2),
    ]
    static let whenSwapped: [(KillPoint, Int)] = [(.swapped, 1), (.swapDurable, 1)]

    /// The members of records at revision 1: members that were added since must not make old records unreadable.
    static let membersOfRevision1: Set = [
        "format", "fingerprint", "migration", "step", "rows", "bytes", "dropped", "made", "endedLinks", "violations",
        "defaulted", "rejected", "quarantined", "quarantinedLinks", "bereftRows", "verification", "progressRows",
        "progressBytes", "sideFiles", "passes", "source", "sourceIsWAL", "now", "path", "steps", "output", "store",
        "backup", "destination", "staging",
    ]

    /// Options that revision 1 and its plans didn't have.
    static let laterOptions: Set = ["--join-table", "--end-links", "--cloudkit", "--set-metadata"]

    /// Changes plan and records to those of revision 1: another identity for the same request, without later members.
    private func age(_ scenario: Scenario) throws {
        func object(_ name: String) throws -> [String: Any] {
            let data = try Data(contentsOf: URL(filePath: scenario.workFile(name)))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
        func write(_ object: [String: Any], _ name: String) throws {
            try JSONSerialization.data(withJSONObject: object).write(to: URL(filePath: scenario.workFile(name)))
        }
        func digest(_ parts: [[String: String]]) -> String {
            let text = parts.map { "\($0["name"] ?? "")\u{1F}\($0["value"] ?? "")" }.joined(separator: "\u{1E}")
            return Digest256.of(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        var plan = try object("plan.json")
        var fingerprint = try #require(plan["fingerprint"] as? [String: Any])
        let parts = try #require(fingerprint["parts"] as? [[String: String]])
        let aged = parts.filter { !Self.laterOptions.contains($0["name"] ?? "") }.map { part in
            var part = part
            if part["name"] == "the tool's semantics" { part["value"] = "1" }
            if part["name"]?.hasPrefix("the passes of ") == true { part["value"] = String(repeating: "0", count: 64) }
            return part
        }
        #expect(aged != parts)
        fingerprint["parts"] = aged
        plan["fingerprint"] = fingerprint
        plan = plan.filter { Self.membersOfRevision1.contains($0.key) }
        try write(plan, "plan.json")
        for name in scenario.work where name.hasSuffix(".verified.json") || name == "swap.json" {
            var record = try object(name)
            let before = try #require(record["fingerprint"] as? String)
            #expect(before == digest(parts), "\(name) is of another plan")
            record["fingerprint"] = digest(aged)
            record = record.filter { Self.membersOfRevision1.contains($0.key) }
            try write(record, name)
        }
    }

    @Test("where the last store is complete, the next run swaps and makes no row", arguments: whenComplete)
    func complete(_ point: KillPoint, _ count: Int) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point, count)
        try age(scenario)
        let rerun = try scenario.rerun()
        #expect(rerun.steps.isEmpty)
        try scenario.expectChainDone()
    }

    @Test("where the new store is in place, the next run only tidies up", arguments: whenSwapped)
    func swapped(_ point: KillPoint, _ count: Int) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point, count)
        try age(scenario)
        #expect(try scenario.rerun().outcome.wasSwapped)
        try scenario.expectChainDone()
    }

    @Test(
        "where rows are missing, it is refused without a change, and --restart accepts it",
        arguments: whenIncomplete)
    func incomplete(_ point: KillPoint, _ count: Int) async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: point, count)
        try age(scenario)
        let before = try scenario.everything()
        let error = try failure { _ = try scenario.rerun() }
        #expect(error.kind == .foreignCheckpoint, "\(error)")
        #expect(error.details.contains { $0.hasPrefix("the tool's semantics: was “1”") }, "\(error)")
        #expect(!error.details.contains { $0.contains("wasn't there") }, "\(error)")
        #expect(try scenario.everything() == before)
        var request = scenario.request(to: "V4")
        request.resume = .restart
        _ = try scenario.rerun(request)
        try scenario.expectChainDone()
    }

    @Test("a complete store is refused where the request is different now")
    func otherWish() async throws {
        let scenario = try Scenario.chain()
        try await scenario.kill(at: .sealed, 2)
        try age(scenario)
        let before = try scenario.everything()
        var other = scenario.request(to: "V4")
        other.violations = .useDefault
        var closer = scenario.request(to: "V4")
        closer.verification = .full
        var looser = scenario.request(to: "V4")
        looser.endsLinks = true
        for request in [other, closer, looser, scenario.request(to: "V3")] {
            #expect(try failure { _ = try scenario.rerun(request) }.kind == .foreignCheckpoint)
            #expect(try scenario.everything() == before)
        }
        _ = try scenario.rerun()
        try scenario.expectChainDone()
    }
}
