/// Bounds on what expressions may use. An expression beyond them fails; nothing is truncated.
package enum EvaluationLimits {
    /// Levels of an expression's tree. Compiling and running recurse; parsed and archived expressions have at most 64.
    package static let depth = 128
    /// Members of a collection that an expression makes; to-many relationships of real stores have far fewer.
    package static let collectionCount = 1_000_000
    /// UTF-8 bytes of a text that an expression makes: replacing and joining can multiply.
    package static let textLength = 16 * 1024 * 1024
    /// Steps of a compiled regular expression, so that `(a{999}){999}` doesn't take memory.
    package static let patternLength = 20_000
    /// Steps while one text is matched: minutes of work. Only nested look-arounds on long texts get there.
    package static let patternSteps = 200_000_000
}
