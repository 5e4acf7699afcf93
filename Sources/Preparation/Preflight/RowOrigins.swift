import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStoreFormat
import CausewayStores

/// The final rows of a chain of inferred steps, each with the row of the first store that it comes from. One row makes
/// one row, so queries on the first store's rows can tell what a column will hold.
struct RowOrigin {
    /// Of the first store.
    let table: String
    let number: Int
    /// Of the store that the steps make.
    let newTable: String
    /// What a column of the new table holds, as SQL over a row `t` of `table`; nil if SQL can't express it.
    let value: (String) -> String?

    /// - Returns: the origins after each step, as far as the steps are inferred.
    static func all(_ steps: [StepPlan]) -> [[RowOrigin]] {
        var result: [[RowOrigin]] = []
        for step in steps {
            guard step.objects == nil else { break }
            result.append(origins(step, after: result.last))
        }
        return result
    }

    private let newNumber: Int

    private static func origins(_ step: StepPlan, after earlier: [RowOrigin]?) -> [RowOrigin] {
        step.passes.filter { $0.kind == .entity }.flatMap { pass in
            pass.projections.sorted { $0.key < $1.key }.flatMap { number, projection -> [RowOrigin] in
                guard let newNumber = step.layout.entityNumbers[projection.entity] else { return [] }
                func origin(_ table: String, _ number: Int, _ cell: @escaping (String) -> String?) -> RowOrigin {
                    RowOrigin(
                        table: table, number: number, newTable: pass.destinationTable,
                        value: { column in
                            guard let place = pass.destinationColumns.firstIndex(of: column) else { return nil }
                            return projection.cells[place].sql(of: pass, cell)
                        }, newNumber: newNumber)
                }
                guard let earlier else {
                    return [origin(pass.sourceTable, number) { name in (try? SQLIdentifier(name)).map { "t.\($0)" } }]
                }
                return earlier.filter { $0.newTable == pass.sourceTable && $0.newNumber == number }.map {
                    origin($0.table, $0.number, $0.value)
                }
            }
        }
    }
}

extension CellRecipe {
    /// The recipe's value as SQL, where `column` gives that of a column of the pass's source table.
    fileprivate func sql(of pass: RowPass, _ column: (String) -> String?) -> String? {
        func cell(_ index: Int) -> String? {
            guard case .column(let name) = pass.shape.cells[index] else { return nil }
            return column(name.name)
        }
        switch self {
        case .carry(let index): return cell(index)
        case .carryOr(let index, let literal): return cell(index).map { "ifnull(\($0), \(literal.sql))" }
        case .converted(let index, let conversion, let literal):
            guard let value = cell(index) else { return nil }
            // Integers that a column of reals rounds may become equal; other numbers stay equal or different.
            let number =
                conversion.source.isReal
                ? value : "CASE typeof(\(value)) WHEN 'integer' THEN CAST(\(value) AS REAL) ELSE \(value) END"
            return literal.map { "ifnull(\(number), \($0.sql))" } ?? number
        case .literal(let literal): return literal.sql
        case .literalIfPresent(let index, let literal):
            return cell(index).map { "CASE WHEN \($0) IS NOT NULL THEN \(literal.sql) END" }
        case .key(let index, let entity, let dropped):
            guard let key = cell(index), let number = cell(entity) else { return nil }
            let list = dropped.sorted().map(String.init).joined(separator: ", ")
            return "CASE WHEN ifnull(\(number), 0) NOT IN (\(list)) THEN \(key) END"
        default: return nil
        }
    }
}

extension CellValue {
    fileprivate var sql: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): "\(value)"
        case .text(let value): "CAST(x'\(Hexadecimal.text(Array(value.utf8)))' AS TEXT)"
        case .blob(let value): "x'\(Hexadecimal.text(value))'"
        }
    }
}
