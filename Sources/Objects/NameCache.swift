/// The numbers of the names that were looked up first. A literal in a hook is the same string at every use: comparing
/// it with a few others costs less than hashing it.
struct NameCache<Number> {
    /// More names than a hook has literals; over it, names are looked up at every use.
    private static var capacity: Int { 16 }

    private var names: [String] = []
    private var numbers: [Number] = []

    /// The name's number; `find` looks up one that isn't known yet.
    mutating func number(
        of name: String, else find: () throws(ObjectError) -> Number
    ) throws(ObjectError) -> Number {
        for index in names.indices where names[index] == name { return numbers[index] }
        let number = try find()
        if names.count < Self.capacity {
            names.append(name)
            numbers.append(number)
        }
        return number
    }
}
