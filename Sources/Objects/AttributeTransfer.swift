import CausewayEvaluation
package import CausewayModel
package import CausewaySQLiteFile

/// How a stored value of one attribute becomes another's.
package struct AttributeTransfer: Sendable {
    private let from: AttributeForm
    private let to: AttributeForm

    /// nil where a value may be in a file of its own, or is computed by Core Data.
    package init?(from: Attribute, to: Attribute) {
        (self.from, self.to) = (AttributeForm(from), AttributeForm(to))
        if self.from.isExternal || self.to.isDerived { return nil }
    }

    /// - Parameter stored: what is stored.
    /// - Returns: what the new attribute gets; nil where it can't be read, or doesn't fit.
    package func cell(_ stored: CellValue) -> CellValue? {
        guard
            let value = try? CellCoding.value(
                of: Cell(stored), as: from, content: { (bytes) throws(ObjectError) in bytes }),
            let cell = CellCoding.cell(for: value, as: to)
        else { return nil }
        return cell.stored ?? .null
    }
}
