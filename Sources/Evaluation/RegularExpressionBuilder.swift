/// Turns a pattern into instructions.
struct RegularExpressionBuilder {
    private(set) var programs: [RegularExpression.Program] = []
    private var length = 0

    /// The program's number.
    mutating func program(_ node: RegularExpressionNode) throws(RegularExpressionError) -> Int {
        let number = programs.count
        programs.append([])
        try emit(node, to: number)
        try add(.accept, to: number)
        return number
    }

    @discardableResult
    private mutating func add(
        _ instruction: RegularExpression.Instruction, to number: Int
    ) throws(RegularExpressionError) -> Int {
        length += 1
        guard length <= EvaluationLimits.patternLength else {
            throw RegularExpressionError(
                message:
                    "The pattern needs more than \(EvaluationLimits.patternLength) steps: its counts are too large",
                offset: 0)
        }
        programs[number].append(instruction)
        return programs[number].count - 1
    }

    private func next(_ number: Int) -> Int { programs[number].count }

    private mutating func emit(_ node: RegularExpressionNode, to number: Int) throws(RegularExpressionError) {
        switch node {
        case .match(let set): try add(.match(set), to: number)
        case .assertion(let assertion): try add(.assertion(assertion), to: number)
        case .sequence(let nodes): for node in nodes { try emit(node, to: number) }
        case .look(let inner, let ahead, let negated):
            let program = try program(inner)
            try add(.look(program, ahead: ahead, negated: negated), to: number)
        case .alternatives(let branches):
            var ends: [Int] = []
            for (index, branch) in branches.enumerated() {
                guard index < branches.count - 1 else {
                    try emit(branch, to: number)
                    break
                }
                let split = try add(.jump(0), to: number)
                try emit(branch, to: number)
                ends.append(try add(.jump(0), to: number))
                programs[number][split] = .split(split + 1, next(number))
            }
            for end in ends { programs[number][end] = .jump(next(number)) }
        case .repeated(let inner, let least, let most):
            for _ in 0..<least { try emit(inner, to: number) }
            guard let most else {
                let split = try add(.jump(0), to: number)
                try emit(inner, to: number)
                try add(.jump(split), to: number)
                programs[number][split] = .split(split + 1, next(number))
                return
            }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(try add(.jump(0), to: number))
                try emit(inner, to: number)
            }
            for split in splits { programs[number][split] = .split(split + 1, next(number)) }
        }
    }
}
