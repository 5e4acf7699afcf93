/// How far an examination of a store is.
public struct ExaminationProgress: Hashable, Sendable {
    /// What is examined now, for people.
    public var activity: String
    /// The part of the work that is done, from 0 to 1, by the sizes of the tables; nil while SQLite checks the
    /// structure in one statement.
    public var fraction: Double?

    package init(_ activity: String, _ fraction: Double?) {
        (self.activity, self.fraction) = (activity, fraction)
    }
}
