/// What a step's mapping models have done.
struct ObjectCounts {
    var read = 0
    var bytes = 0
    /// Rows made, by destination Z_ENT.
    var made: [Int32: Int] = [:]
    /// Links that ended because their rows weren't made.
    var endedLinks = 0
    var validation = ValidationOutcome()
    /// Statements of the indexes that were made for stage 2.
    var indexes: Set<String> = []
    /// Source rows from which nothing was made.
    var dropped = 0
    /// Mappings whose associations are on disk after stage 1; nil before.
    var recorded: Set<Int>?
    /// Whether every link is looked up, since associations show objects of which the plan doesn't know.
    var looksUpAll = false
    /// Places of the row checks that rows in pages gave reason to doubt; nil where other rows were written, or changed.
    var doubts: Set<Int>?
    /// Stations of the step up to the end of the mapping models; nil before.
    var stations: Int?
}
