import Testing

import CausewayTool

/// The estimate for several stores.
@Suite("The meter of several stores", .timeLimit(.minutes(60)))
struct StoresMeterTests {
    @Test("stores that needed nothing, or failed, count as done, and not for the speed")
    func speed() {
        var meter = StoresMeter(Array(repeating: 100, count: 50))
        for place in 0..<40 { meter.end(place, isMigrated: false) }
        #expect(meter.fraction == 0.8)
        #expect(meter.remainingSeconds(after: 1) == nil)
        // Of a small store the first progress may be the last.
        meter.advance(40, to: 0.4)
        meter.end(40, isMigrated: true)
        meter.advance(41, to: 0.5)
        // A store and a half took 12 seconds, eight and a half are left.
        #expect(meter.remainingSeconds(after: 12) == 68)
    }

    @Test("what an earlier run did of a store doesn't count for the speed")
    func resumed() {
        var meter = StoresMeter([100, 100])
        meter.resume(0)
        meter.advance(0, to: 0.5)
        meter.advance(0, to: 0.75)
        #expect(meter.fraction == 0.375)
        #expect(meter.remainingSeconds(after: 5) == 25)
        meter.end(0, isMigrated: true)
        #expect(meter.remainingSeconds(after: 10) == 20)
        meter.end(1, isMigrated: true)
        #expect(meter.fraction == 1 && meter.remainingSeconds(after: 30) == 0)
    }

    @Test("steps that an earlier run has ended don't count for the speed, those that follow in this one do")
    func steps() {
        var meter = StoresMeter([100, 100])
        meter.beginStep(1, of: 0)
        meter.advance(0, to: 0.5)
        meter.advance(0, to: 0.75)
        #expect(meter.remainingSeconds(after: 5) == 25)
        meter.beginStep(0, of: 1)
        meter.advance(1, to: 0.25)
        meter.beginStep(1, of: 1)
        meter.advance(1, to: 0.5)
        // A quarter and a half took 15 seconds; as much is left.
        #expect(meter.remainingSeconds(after: 15) == 15)
    }

    @Test("of empty stores nothing is told")
    func empty() {
        var meter = StoresMeter([0])
        meter.advance(0, to: 0.5)
        #expect(meter.fraction == nil && meter.remainingSeconds(after: 5) == nil)
    }
}
