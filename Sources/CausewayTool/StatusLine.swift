import CausewayPlatform

/// A line that shows how far something is: rewritten in its place on a terminal that can do it, a line now and then
/// elsewhere.
struct StatusLine {
    /// Seconds between two drawings on a terminal: fast enough for the eye.
    private static let drawingInterval = 0.1
    /// Seconds between two plain lines: a log of a long run stays readable.
    private static let plainInterval = 5.0
    /// Back to the line's start, and everything after it erased.
    private static let eraseLine = "\r\u{1B}[K"
    /// Columns of a terminal that doesn't say.
    private static let fallbackWidth = 80

    private let stream: StandardStream
    let isTerminal: Bool
    private var lastShown: Double
    private var isOpen = false

    init(_ stream: StandardStream = .error, now: Double = MonotonicClock.seconds()) {
        self.stream = stream
        isTerminal = Terminal.isTerminal(stream.descriptor) && !Terminal.isDumb
        lastShown = now
    }

    /// Shows the text if it is time.
    mutating func show(now: Double = MonotonicClock.seconds(), _ text: () -> String) {
        guard now - lastShown >= (isTerminal ? Self.drawingInterval : Self.plainInterval) else { return }
        lastShown = now
        guard isTerminal else {
            stream.writeLine(text())
            return
        }
        // One column stays free: a full line would wrap, and only its last part would be erased.
        let width = (Terminal.width(stream.descriptor) ?? Self.fallbackWidth) - 1
        stream.write(Self.eraseLine + String(text().printable.prefix(max(1, width))))
        isOpen = true
    }

    /// Lets the next text be shown at once where that is seen: what it tells of may be long without any progress.
    mutating func hurry() {
        if isTerminal { lastShown -= Self.drawingInterval }
    }

    /// Writes a message that stays, on as many lines as a terminal needs.
    mutating func tell(_ text: String) {
        erase()
        for line in TextLayout.output(showsAll: true, to: stream).lines(text) { stream.writeLine(line) }
    }

    /// Writes a line that stays, as it is.
    mutating func say(_ text: String) {
        erase()
        stream.writeLine(text)
    }

    /// Removes the line, so that results and errors stand alone.
    mutating func erase() {
        guard isOpen else { return }
        stream.write(Self.eraseLine)
        isOpen = false
    }
}
