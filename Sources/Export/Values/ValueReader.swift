import CausewaySQLiteFile
import CausewayStores

/// Makes exported values of stored cells (InsideStoreFormat §4).
///
/// A cell that doesn't fit its attribute is written as what it is, and counted: an export leaves nothing out.
struct ValueReader {
    let notes: ExportNotes
    let external: ExternalCopies

    /// The values of a row, one for each leaf.
    func values(
        _ shape: EntityShape, key: Int64, _ cells: [CellValue]
    ) throws(EngineError) -> [ExportValue] {
        var values: [ExportValue] = []
        values.reserveCapacity(shape.leaves.count)
        for leaf in shape.leaves {
            let cell = leaf.cell < cells.count ? cells[leaf.cell] : .null
            switch leaf.kind {
            case .attribute(let meaning):
                values.append(try value(cell, as: meaning, Place(shape: shape, leaf: leaf, key: key)))
            case .link(let entityCell, let destination):
                guard case .integer(let target) = cell else {
                    values.append(unfit(cell, Place(shape: shape, leaf: leaf, key: key)))
                    continue
                }
                var entity = destination
                if let entityCell, entityCell < cells.count, case .integer(let number) = cells[entityCell],
                    let number = Int32(exactly: number)
                {
                    entity = number
                }
                values.append(.link(ObjectLink(entity: entity, key: target)))
            case .place:
                guard case .integer(let place) = cell else {
                    values.append(unfit(cell, Place(shape: shape, leaf: leaf, key: key)))
                    continue
                }
                values.append(.integer(place))
            }
        }
        return values
    }

    /// Where a cell is, for the notes.
    private struct Place {
        let shape: EntityShape
        let leaf: EntityShape.Leaf
        let key: Int64
    }

    private func value(
        _ cell: CellValue, as meaning: CellMeaning, _ place: Place
    ) throws(EngineError) -> ExportValue {
        switch (meaning, cell) {
        case (_, .null): return .null
        case (.integer(let bits), .integer(let value)) where CellMeaning.integers(ofBits: bits).contains(value):
            return .integer(value)
        case (.boolean, .integer(let value)) where value == 0 || value == 1: return .boolean(value == 1)
        case (.double, .integer(let value)): return .real(Double(value))
        case (.double, .real(let value)): return .real(value)
        case (.float, .integer(let value)): return float(Double(value))
        case (.float, .real(let value)): return float(value)
        case (.date, .integer(let value)): return date(Double(value), place)
        case (.date, .real(let value)): return date(value, place)
        case (.decimal, .integer(let value)): return .text(String(value))
        case (.decimal, .real(let value)): return .text(DecimalText.plain(value))
        case (.decimal, .text(let value)), (.text, .text(let value)): return .text(value)
        case (.uuid, .blob(let value)) where value.count == 16: return .text(Self.uuid(value))
        case (.bytes(let isExternal), .blob(let value)):
            return isExternal ? try stored(value, place) : .data(value)
        // A transformer may give text.
        case (.bytes, .text(let value)): return .text(value)
        default: return unfit(cell, place)
        }
    }

    /// A number that single precision holds has its digits.
    private func float(_ value: Double) -> ExportValue {
        let single = Float(value)
        return Double(single) == value ? .single(single) : .real(value)
    }

    private func date(_ value: Double, _ place: Place) -> ExportValue {
        if let text = DateText.text(secondsSinceReferenceDate: value) { return .text(text) }
        notes.add(.dateOutOfRange, place.shape.name, place.leaf.path, key: place.key)
        return .real(value)
    }

    /// The value of an attribute that allows external storage: behind one prefix byte, or in a file.
    private func stored(_ value: [UInt8], _ place: Place) throws(EngineError) -> ExportValue {
        switch value.first {
        case ExternalValues.inlinePrefix: return .data(Array(value.dropFirst()))
        case ExternalValues.referencePrefix:
            if let value = try external.value(value) { return value }
            notes.add(.missingFile, place.shape.name, place.leaf.path, key: place.key)
            return .null
        default: return unfit(.blob(value), place)
        }
    }

    private func unfit(_ cell: CellValue, _ place: Place) -> ExportValue {
        let value: ExportValue
        switch cell {
        case .null: return .null
        case .integer(let number): value = .integer(number)
        case .real(let number): value = .real(number)
        case .text(let text): value = .text(text)
        case .blob(let bytes): value = .data(bytes)
        }
        notes.add(.misfit, place.shape.name, place.leaf.path, key: place.key)
        return value
    }

    /// `8A3F0B7E-…`, 36 characters.
    private static func uuid(_ bytes: [UInt8]) -> String {
        let digits = Hexadecimal.text(bytes).uppercased()
        var text = ""
        for (place, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(place) { text.append("-") }
            text.append(digit)
        }
        return text
    }
}
