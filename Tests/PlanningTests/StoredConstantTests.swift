import CausewayExpressions
import CausewayModel
import CausewaySQLiteFile
import CausewayStoreFormat
import Testing

/// Defaults in the storage class in which Core Data keeps them (InsideStoreFormat §4.1).
@Suite("Stored defaults", .timeLimit(.minutes(60)))
struct StoredConstantTests {
    private func literal(_ constant: Constant?, _ type: AttributeType, external: Bool = false) -> CellValue? {
        var attribute = Attribute(name: "a", type: type)
        attribute.allowsExternalBinaryDataStorage = external
        return CellValue(constant, as: attribute)
    }

    @Test("no default is NULL for every type", arguments: AttributeType.allCases)
    func null(_ type: AttributeType) {
        #expect(literal(nil, type) == .null)
        #expect(literal(.null, type) == .null)
    }

    @Test(
        "integers and booleans are integers",
        arguments: [AttributeType.integer16, .integer32, .integer64])
    func integers(_ type: AttributeType) {
        #expect(literal(.integer(-7), type) == .integer(-7))
        #expect(literal(.boolean(true), type) == .integer(1))
        #expect(literal(.real(2.9), type) == .integer(2))
        #expect(literal(.real(1e300), type) == nil)
        #expect(literal(.real(.nan), type) == nil)
        #expect(literal(.boolean(false), .boolean) == .integer(0))
        #expect(literal(.integer(5), .boolean) == .integer(1))
    }

    @Test("doubles are reals, floats rounded to single precision")
    func reals() {
        #expect(literal(.integer(3), .double) == .real(3))
        #expect(literal(.real(0.1), .double) == .real(0.1))
        #expect(literal(.real(0.1), .float) == .real(Double(Float(0.1))))
    }

    @Test("whole dates and decimals are integers, as a NUMERIC column makes them")
    func numeric() {
        #expect(literal(.date(5), .date) == .integer(5))
        #expect(literal(.date(5.5), .date) == .real(5.5))
        #expect(literal(.decimal("12.50"), .decimal) == .real(12.5))
        #expect(literal(.decimal("12"), .decimal) == .integer(12))
        #expect(literal(.decimal("12.0"), .decimal) == .integer(12))
        #expect(literal(.decimal("NaN"), .decimal) == .text("NaN"))
        #expect(literal(.integer(Int64.max), .decimal) == .integer(Int64.max))
    }

    @Test("texts, addresses, identifiers and data")
    func others() {
        #expect(literal(.string(""), .string) == .text(""))
        #expect(literal(.uri("a:b"), .uri) == .text("a:b"))
        #expect(literal(.uuid([1, 2]), .uuid) == .blob([1, 2]))
        #expect(literal(.data([9]), .binary) == .blob([9]))
        #expect(literal(.data([9]), .binary, external: true) == .blob([1, 9]))
        #expect(literal(.data([9]), .transformable) == .blob([9]))
    }

    @Test("a default that can't be stored is refused, never NULL")
    func refused() {
        #expect(literal(.foreign(className: "C"), .transformable) == nil)
        #expect(literal(.string("x"), .integer16) == nil)
        #expect(literal(.integer(1), .string) == nil)
        #expect(literal(.array([]), .transformable) == nil)
    }
}
