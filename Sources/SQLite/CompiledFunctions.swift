/// What a statement computes, read from the program that SQLite made of it.
package struct CompiledFunctions: Sendable {
    /// Names of the functions that it calls.
    package var names: Set<String> = []
    /// How often it joins two texts with `||`.
    package var concatenations = 0
}

extension Connection {
    /// Compiles a statement and looks at its program; nothing of it is run.
    package func compiledFunctions(of sql: String) throws(SQLiteError) -> CompiledFunctions {
        var result = CompiledFunctions()
        // addr, opcode, p1, p2, p3, p4, p5, comment
        var program = try prepare("EXPLAIN " + sql)
        while try program.step() {
            switch try program.string(at: 1) {
            case "Function", "PureFunc":
                // `name(arguments)`
                guard let call = try program.string(at: 5) else { continue }
                result.names.insert(String(call.prefix { $0 != "(" }).lowercased())
            case "Concat": result.concatenations += 1
            default: break
            }
        }
        return result
    }
}
