package import CausewayModel
package import CausewaySQLite

extension Statement {
    /// nil for NULL, texts and binary data.
    package func number(at cell: Int) -> StoredNumber? {
        switch type(at: cell) {
        case .integer: .integer(int64(at: cell))
        case .real: .real(double(at: cell))
        case .null, .text, .blob: nil
        }
    }
}
