/// The functions that a statement calls, read from its compiled program.
package struct CompiledFunctions: Sendable {
    /// One call of a function.
    package struct Call: Hashable, Sendable {
        package var name: String
        /// The first three arguments where they are texts that stand in the statement; nil for all others.
        package var texts: [String?]
    }

    package var calls: [Call] = []
    /// How often it joins two texts with `||`.
    package var concatenations = 0
}

extension Connection {
    /// Compiles a statement and reads its program, without running it.
    package func compiledFunctions(of sql: String) throws(SQLiteError) -> CompiledFunctions {
        var result = CompiledFunctions()
        var calls: [(name: String, register: Int64)] = []
        var texts: [Int64: String] = [:]
        var computed: Set<Int64> = []
        // addr, opcode, p1, p2, p3, p4, p5, comment
        var program = try prepare("EXPLAIN " + sql)
        while try program.step() {
            guard let operation = try program.string(at: 1) else { continue }
            switch operation {
            case "String8":
                let register = program.int64(at: 3)
                if texts.updateValue(try program.string(at: 5) ?? "", forKey: register) != nil {
                    computed.insert(register)
                }
            case "Function", "PureFunc":
                // `name(arguments)`; the arguments begin in the register p2.
                guard let call = try program.string(at: 5) else { continue }
                calls.append((String(call.prefix { $0 != "(" }).lowercased(), program.int64(at: 3)))
            case "Concat": result.concatenations += 1
            default: break
            }
            if Self.writersOfThird.contains(operation) { computed.insert(program.int64(at: 4)) }
            if Self.writersOfSecond.contains(operation) { computed.insert(program.int64(at: 3)) }
        }
        result.calls = calls.map { call in
            CompiledFunctions.Call(
                name: call.name,
                texts: (0..<3).map { computed.contains(call.register + $0) ? nil : texts[call.register + $0] })
        }
        return result
    }

    /// Operations that write the register p3, or p2.
    private static let writersOfThird: Set<String> = [
        "Add", "And", "BitAnd", "BitOr", "Column", "Concat", "Divide", "Function", "Multiply", "Or", "PureFunc",
        "Remainder", "ShiftLeft", "ShiftRight", "Subtract",
    ]
    private static let writersOfSecond: Set<String> = [
        "BitNot", "Blob", "Copy", "Int64", "Integer", "Not", "Null", "Real", "Rowid", "SCopy", "Variable",
    ]

    /// Whether the program that SQLite makes of a statement compares values by a collating sequence. Ordering and
    /// grouping by it don't count, nor passing a value on.
    package func compares(_ sql: String, by collation: String) throws(SQLiteError) -> Bool {
        var program = try prepare("EXPLAIN " + sql)
        while try program.step() {
            guard Self.comparing.contains(try program.string(at: 1) ?? ""), let detail = try program.string(at: 5)
            else { continue }
            // `name-8`, or `k(1,name)` with the encoding or signs beside it.
            let words = detail.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            if words.contains(where: { $0 == collation }) { return true }
        }
        return false
    }

    private static let comparing: Set<String> = [
        "CollSeq", "Eq", "Ge", "Gt", "Le", "Lt", "Ne", "OpenAutoindex", "OpenEphemeral",
    ]
}
