import CausewayEvaluation
import CausewayExpressions

extension Value {
    /// A literal as a value; an app's own archived object is NULL, because nothing here can read it.
    init(_ constant: Constant) {
        switch constant {
        case .null, .foreign: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .decimal(let value): self = .decimal(value)
        case .string(let value): self = .string(value)
        case .date(let value): self = .date(value)
        case .data(let value): self = .data(value)
        case .uuid(let value): self = .uuid(value)
        case .uri(let value): self = .uri(value)
        case .array(let members): self = .collection(members.map { Value($0) })
        case .dictionary(let entries):
            // Key and value in turn: there is no dictionary among the values of rows.
            self = .collection(entries.flatMap { [.string($0.key), Value($0.value)] })
        }
    }
}
