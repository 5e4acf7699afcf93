import CausewayEvaluation
import CausewayModel
import CausewaySQLiteFile

/// Texts of string attributes, past `Value`.
extension ObjectContext {
    /// Lends a text; nil for NULL.
    func withText<Result>(
        _ key: PropertyKey, of object: ManagedObject, _ body: (TextSpan) throws -> Result
    ) throws -> Result? {
        if let place = try attribute(key, of: object.objectID), place.form.type == .string,
            let current, let (view, cell) = currentCell(object.objectID, place.column)
        {
            if view.isNull(at: cell) { return nil }
            if view.serialType(at: cell).isText {
                let utf8 = unsafe Span<UInt8>(_unsafeBytes: view.unsafeBytes(at: cell))
                guard TextScalars.areValid(utf8) else { throw Self.invalidText }
                let origin = TextSpan.Origin(
                    view: ObjectIdentifier(view), object: current.object, row: current.row, cell: Int32(cell))
                return try body(TextSpan(valid: utf8, origin: origin))
            }
        }
        guard let text = try object.string(key) else { return nil }
        let utf8 = Array(text.utf8)
        return try body(TextSpan(valid: utf8.span))
    }

    static var invalidText: ObjectError { ObjectError(.type, "a text isn't valid UTF-8") }

    /// A string attribute's text; nil for any other attribute and for NULL, about which `value` decides.
    func text(_ key: PropertyKey, of object: ObjectID) throws(ObjectError) -> String? {
        guard let place = try attribute(key, of: object), place.form.type == .string,
            case .text(let text) = try cell(object, column: place.column)
        else { return nil }
        return text
    }

    /// Sets a string attribute; any other kind of property as `set` of a value does.
    func setText(_ key: PropertyKey, of object: ObjectID, to text: TextSpan) throws(ObjectError) {
        guard let place = try attribute(key, of: object), place.form.holdsStrings else {
            return try set(key, of: object, to: .string(String(text)))
        }
        try requireChangeable(object)
        let (table, row) = try locate(object)
        if let origin = text.origin, isCurrent(origin), tables[table].isNew(row),
            tables[table].sourceRows[row] == origin.row
        {
            tables[table].set(row, place.column, to: .carried(origin.cell))
        } else {
            tables[table].set(row, place.column, toValid: text.utf8)
        }
    }

    /// Whether a text is of the row whose cells this context's new rows carry.
    private func isCurrent(_ origin: TextSpan.Origin) -> Bool {
        guard let current else { return false }
        return ObjectIdentifier(current.view) == origin.view && current.row == origin.row
            && current.object == origin.object
    }
}
