import CausewayExpressions

/// A linear congruential generator: the same seed gives the same tests everywhere.
struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 17 ^ state << 31
    }
}

/// Random trees of everything that a format string can express.
struct RandomTrees {
    var random: Random
    init(seed: UInt64) { random = Random(state: seed) }

    private mutating func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &random)] }

    private mutating func key() -> String {
        pick(["name", "size", "first", "or", "SELF", "a.b.c", "größe", "items.@count", "@max.price", "null.not", "_1"])
    }

    private mutating func constant() -> Constant {
        pick([
            .null, .boolean(true), .boolean(false), .integer(0), .integer(-1), .integer(.max), .integer(.min),
            .real(0.2), .real(-1e-5), .real(5), .real(1e300), .string(""), .string("a\"b\\c\n'é"), .date(-0.5),
            .data([0, 255]), .uuid(Array(0..<16)), .uri("x://y"), .decimal("-12.50"), .real(-.infinity),
        ])
    }

    mutating func expression(_ depth: Int) -> Expression {
        guard depth > 0 else {
            return switch Int.random(in: 0..<4, using: &random) {
            case 0: .evaluatedObject
            case 1: .variable(pick(["source", "x", "FETCH_SOURCE"]))
            case 2: .key(key())
            default: .constant(constant())
            }
        }
        let next = depth - 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .aggregate([expression(next), expression(next)])
        case 1: return .subquery(collection: expression(next), variable: "x", predicate: predicate(next))
        case 2: return .fetch(request: expression(next), context: expression(next), countOnly: next % 2 == 0)
        case 3: return .set(pick([.union, .intersect, .minus]), expression(next), expression(next))
        case 4: return .conditional(predicate(next), expression(next), expression(next))
        case 5: return .keyPath(operand: expression(next), path: key())
        case 6: return .function(operand: .variable("m"), name: "do:with:", arguments: [expression(next)])
        case 7: return .function(operand: nil, name: pick(["now", "size", "random"]), arguments: [])
        case 8: return .function(operand: nil, name: pick(["count:", "chs:", "no:"]), arguments: [expression(next)])
        case 9:
            let index = pick([.firstElement, .lastElement, .elementCount, expression(next)])
            return .function(operand: nil, name: "objectFrom:withIndex:", arguments: [expression(next), index])
        case 10:
            let type = Expression.constant(.string("NSString"))
            return .function(operand: nil, name: "castObject:toType:", arguments: [expression(next), type])
        default:
            let name = pick(["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "raise:toPower:"])
            return .function(operand: nil, name: name, arguments: [expression(next), expression(next)])
        }
    }

    mutating func predicate(_ depth: Int) -> Predicate {
        let next = max(0, depth - 1)
        switch Int.random(in: 0..<(depth > 0 ? 6 : 2), using: &random) {
        case 0: return .literal(Bool.random(using: &random))
        case 2: return .not(predicate(next))
        case 3: return .and([predicate(next), predicate(next)])
        case 4: return .or([predicate(next), predicate(next), predicate(next)])
        default:
            let operators: [ComparisonOperator] = [
                .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .matches,
                .like, .beginsWith, .endsWith, .in, .contains, .between,
            ]
            return .comparison(
                Predicate.Comparison(
                    expression(next), pick(operators), expression(next), modifier: pick([.direct, .any, .all]),
                    options: Predicate.Options(rawValue: Int.random(in: 0..<16, using: &random))))
        }
    }
}
