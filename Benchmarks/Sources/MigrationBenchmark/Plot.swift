import Foundation

/// Plots as SVG, readable on light and on dark ground: no background, grey text, colours of middle brightness.
enum Plot {
    /// Points that belong together, in the order of x.
    struct Curve {
        let name: String
        let points: [(x: Double, y: Double)]
    }

    /// A bar of parts.
    struct Bar {
        let name: String
        let parts: [(name: String, value: Double)]
    }

    private static let colours = [
        "#3b82c4", "#d9822b", "#3a9d5d", "#c0504d", "#8a63b8", "#8c6d46", "#c76a9f", "#7f8c2e", "#2a9aa5", "#7a7f87",
    ]
    private static let grey = "#808790"

    private static func colour(_ index: Int) -> String { colours[index % colours.count] }

    /// Both axes logarithmic, so that what grows with x is a straight line.
    static func lines(_ curves: [Curve], title: String, x: String, y: String) -> String {
        let points = curves.flatMap(\.points).filter { $0.x > 0 && $0.y > 0 }
        let (area, width) = (Area(x: 70, y: 54, width: 430, height: 300), 760)
        let across = Axis(points.map(\.x), from: area.x, to: area.x + area.width)
        let up = Axis(snapping: points.map(\.y), from: area.y + area.height, to: area.y)
        var marks: [String] = []
        for tick in Set(points.map(\.x)).sorted() {
            marks.append(line(across(tick), area.y, across(tick), area.y + area.height, grey, 0.3))
            marks.append(text(across(tick), area.y + area.height + 18, label(tick), anchor: "middle"))
        }
        for tick in up.ticks {
            marks.append(line(area.x, up(tick), area.x + area.width, up(tick), grey, 0.3))
            marks.append(text(area.x - 8, up(tick) + 4, label(tick), anchor: "end"))
        }
        marks.append(text(area.x + area.width / 2, area.y + area.height + 40, x, anchor: "middle"))
        marks.append(text(area.x - 8, area.y - 8, y, anchor: "end"))
        for (index, curve) in curves.enumerated() {
            let places = curve.points.filter { $0.x > 0 && $0.y > 0 }.map { (across($0.x), up($0.y)) }
            let path = places.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
            marks.append(
                #"<polyline points="\#(path)" fill="none" stroke="\#(colour(index))" stroke-width="2"/>"#)
            for place in places {
                marks.append(
                    #"<circle cx="\#(number(place.0))" cy="\#(number(place.1))" r="3.5" fill="\#(colour(index))"/>"#)
            }
        }
        marks += legend(curves.map(\.name), x: area.x + area.width + 24, y: area.y + 10)
        return document(title, width: width, height: max(410, 80 + 20 * curves.count), marks)
    }

    /// Bars one below the other, their parts in the same colours.
    static func bars(_ bars: [Bar], title: String, x: String) -> String {
        var names: [String] = []
        for part in bars.flatMap(\.parts) where !names.contains(part.name) { names.append(part.name) }
        let (left, width, step) = (210.0, 350.0, 30.0)
        let longest = bars.map { $0.parts.reduce(0) { $0 + $1.value } }.max() ?? 0
        let scale = longest > 0 ? width / longest : 0
        var marks: [String] = []
        for (row, bar) in bars.enumerated() {
            let top = 44 + Double(row) * step
            marks.append(text(left - 8, top + 15, bar.name, anchor: "end"))
            var start = left
            for part in bar.parts {
                let length = part.value * scale
                let fill = colour(names.firstIndex(of: part.name) ?? 0)
                marks.append(
                    """
                    <rect x="\(number(start))" y="\(number(top))" width="\(number(length))" height="20" fill="\(fill)">\
                    <title>\(escaped(part.name)): \(label(part.value))</title></rect>
                    """)
                start += length
            }
            marks.append(text(start + 6, top + 15, label(bar.parts.reduce(0) { $0 + $1.value })))
        }
        let bottom = 44 + Double(bars.count) * step
        marks.append(text(left, bottom + 18, x))
        marks += legend(names, x: left + width + 70, y: 54)
        return document(title, width: 800, height: Int(max(bottom + 30, 70 + 20 * Double(names.count))), marks)
    }

    private struct Area {
        let x, y, width, height: Double
    }

    /// Logarithmic.
    private struct Axis {
        private let low, high, start, end: Double

        init(_ values: [Double], from start: Double, to end: Double) {
            low = log10(values.min() ?? 1)
            high = max(log10(values.max() ?? 10), low + 0.1)
            (self.start, self.end) = (start, end)
        }

        /// From the mark below the values to the one above them.
        init(snapping values: [Double], from start: Double, to end: Double) {
            let (least, most) = (values.min() ?? 1, values.max() ?? 10)
            let marks = Self.marks(from: least / 10, to: most * 10)
            self.init(
                [marks.last { $0 <= least } ?? least, marks.first { $0 >= most } ?? most], from: start, to: end)
        }

        /// The marks between the ends.
        var ticks: [Double] { Self.marks(from: pow(10, low) * 0.999, to: pow(10, high) * 1.001) }

        /// 1, 2 and 5 of every power of ten.
        private static func marks(from low: Double, to high: Double) -> [Double] {
            let powers = Int(log10(low).rounded(.down))...Int(log10(high).rounded(.up))
            return powers.flatMap { power in [1, 2, 5].map { $0 * pow(10, Double(power)) } }
                .filter { (low...high).contains($0) }
        }

        func callAsFunction(_ value: Double) -> Double { start + (log10(value) - low) / (high - low) * (end - start) }
    }

    private static func legend(_ names: [String], x: Double, y: Double) -> [String] {
        names.enumerated().flatMap { index, name in
            let top = y + Double(index) * 20
            return [
                """
                <rect x="\(number(x))" y="\(number(top - 10))" width="12" height="12" fill="\(colour(index))"/>
                """,
                text(x + 18, top, name),
            ]
        }
    }

    private static func document(_ title: String, width: Int, height: Int, _ marks: [String]) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
        font-family="Helvetica, Arial, sans-serif" font-size="12" role="img" aria-label="\(escaped(title))">
        <text x="12" y="20" font-size="14" font-weight="bold" fill="\(grey)">\(escaped(title))</text>
        \(marks.joined(separator: "\n"))
        </svg>

        """
    }

    private static func line(
        _ x: Double, _ y: Double, _ toX: Double, _ toY: Double, _ colour: String, _ opacity: Double
    ) -> String {
        """
        <line x1="\(number(x))" y1="\(number(y))" x2="\(number(toX))" y2="\(number(toY))" stroke="\(colour)" \
        stroke-opacity="\(opacity)"/>
        """
    }

    private static func text(_ x: Double, _ y: Double, _ words: String, anchor: String = "start") -> String {
        """
        <text x="\(number(x))" y="\(number(y))" text-anchor="\(anchor)" fill="\(grey)">\(escaped(words))</text>
        """
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }

    /// Two figures that count.
    private static func label(_ value: Double) -> String {
        value >= 10 ? String(format: "%.0f", value) : String(format: "%.2g", value)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
