import CausewaySQLiteFile
import Testing

/// Cells, and the record that SQLite 3.40.1 wrote for them: taken from the leaf page of a table without declared types,
/// so that no affinity changed a value.
struct RecordVector: CustomTestStringConvertible, Sendable {
    let cells: [CellValue]
    let record: [UInt8]

    var testDescription: String { "\(cells)" }

    /// The record is `hex`, followed by the filler's bytes.
    init(_ cells: [CellValue], _ hex: String, filler: (byte: UInt8, count: Int) = (0, 0)) {
        self.cells = cells
        record = Self.bytes(hex) + Array(repeating: filler.byte, count: filler.count)
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static let all: [RecordVector] = [
        RecordVector([.integer(0)], "0208"),
        RecordVector([.integer(1)], "0209"),
        RecordVector([.integer(-1)], "0201ff"),
        RecordVector([.integer(2)], "020102"),
        RecordVector([.integer(127)], "02017f"),
        RecordVector([.integer(128)], "02020080"),
        RecordVector([.integer(-128)], "020180"),
        RecordVector([.integer(-129)], "0202ff7f"),
        RecordVector([.integer(32767)], "02027fff"),
        RecordVector([.integer(32768)], "0203008000"),
        RecordVector([.integer(-32768)], "02028000"),
        RecordVector([.integer(-32769)], "0203ff7fff"),
        RecordVector([.integer(8388607)], "02037fffff"),
        RecordVector([.integer(8388608)], "020400800000"),
        RecordVector([.integer(-8388608)], "0203800000"),
        RecordVector([.integer(-8388609)], "0204ff7fffff"),
        RecordVector([.integer(2147483647)], "02047fffffff"),
        RecordVector([.integer(2147483648)], "0205000080000000"),
        RecordVector([.integer(-2147483648)], "020480000000"),
        RecordVector([.integer(-2147483649)], "0205ffff7fffffff"),
        RecordVector([.integer(140737488355327)], "02057fffffffffff"),
        RecordVector([.integer(140737488355328)], "02060000800000000000"),
        RecordVector([.integer(-140737488355328)], "0205800000000000"),
        RecordVector([.integer(-140737488355329)], "0206ffff7fffffffffff"),
        RecordVector([.integer(9223372036854775807)], "02067fffffffffffffff"),
        RecordVector([.integer(.min)], "02068000000000000000"),
        RecordVector([.real(0.0)], "02070000000000000000"),
        RecordVector([.real(-0.0)], "02078000000000000000"),
        RecordVector([.real(2.0)], "02074000000000000000"),
        RecordVector([.real(0.1)], "02073fb999999999999a"),
        RecordVector([.real(-1e+300)], "0207fe37e43c8800759c"),
        RecordVector([.real(.infinity)], "02077ff0000000000000"),
        RecordVector([.real(.leastNonzeroMagnitude)], "02070000000000000001"),
        RecordVector([.null], "0200"),
        RecordVector([.text(String(repeating: "x", count: 0))], "020d"),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 0))], "020c"),
        RecordVector([.text(String(repeating: "x", count: 1))], "020f78"),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 1))], "020eff"),
        RecordVector([.text(String(repeating: "x", count: 57))], "027f", filler: (0x78, 57)),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 57))], "027e", filler: (0xff, 57)),
        RecordVector([.text(String(repeating: "x", count: 58))], "038101", filler: (0x78, 58)),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 58))], "038100", filler: (0xff, 58)),
        RecordVector([.text(String(repeating: "x", count: 59))], "038103", filler: (0x78, 59)),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 59))], "038102", filler: (0xff, 59)),
        RecordVector([.text(String(repeating: "x", count: 200))], "03831d", filler: (0x78, 200)),
        RecordVector([.blob([UInt8](repeating: 0xff, count: 200))], "03831c", filler: (0xff, 200)),
        RecordVector([.text("ü😀")], "0219c3bcf09f9880"),
        RecordVector(
            [.integer(7), .integer(2), .integer(1), .null, .text("Name"), .real(3.5), .blob([0, 1]), .integer(0)],
            "09010109001507100807024e616d65400c0000000000000001"),
    ]

    /// How many cells a record has (their values are 0, 1, 2, …), and the first bytes that SQLite wrote: the header's
    /// length and the first two serial types. Around 126 cells the length's own varint grows.
    static let wideHeaders: [(cells: Int, start: [UInt8])] = [
        (125, [0x7e, 0x08, 0x09, 0x01]),
        (126, [0x7f, 0x08, 0x09, 0x01]),
        (127, [0x81, 0x01, 0x08, 0x09]),
        (128, [0x81, 0x02, 0x08, 0x09]),
    ]
}
