/// Bounds on foreign expressions and predicates. Input beyond them is refused, never truncated.
package enum ExpressionLimits {
    /// UTF-8 bytes of a format string. The longest known one has 220; a list after `IN` may be long.
    package static let textLength = 256 * 1024

    /// Levels of the tree, and of the parser's own recursion. Parsing, printing, comparing and releasing a tree
    /// recurse, and a thread's stack may be 512 KiB, which suffices in a release build; a debug build's parser takes 12
    /// KiB a level. Known expressions have at most 5 levels; chains of AND and OR have one, whatever their length.
    package static let depth = 64

    /// Nodes and elements decoded for one archived expression or predicate. Archives share objects, and shared
    /// references can make a tree of 2⁶⁴ nodes out of 64 objects.
    package static let archivedNodes = 100_000
}
