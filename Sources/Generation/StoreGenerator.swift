import CausewayModel
import CausewayPlist
package import CausewayStoreFormat

/// Writes a store with made-up rows for any model, as Core Data would have left it: for tests, fixtures and benchmarks.
///
/// Every byte follows from the layout and the options. Each value and each link is computed from seed, property and row
/// number, so that nothing is kept between rows and memory doesn't grow with their number.
package struct StoreGenerator {
    package let layout: StoreLayout
    package let options: GenerationOptions
    /// Rows by concrete entity. Fewer than the options ask for, where uniqueness constraints and mandatory
    /// relationships leave no room for more.
    package let counts: [String: Int]

    let keySpaces: [String: KeySpace]
    let links: LinkPlan
    let tables: [TablePlan]

    /// - Throws: `badOptions`, and `unusableModel` for a model without concrete entities when rows are asked for.
    package init(layout: StoreLayout, options: GenerationOptions) throws(GenerationError) {
        try options.check()
        self.layout = layout
        self.options = options
        let unique = UniqueRoles(in: layout, rows: options.rows)
        let shares = EntityShares(layout, rows: options.rows, unique: unique)
        if shares.counts.isEmpty, options.rows > 0 {
            throw GenerationError(
                .unusableModel, "the model has no entity that can have rows: all are abstract, or there is none")
        }
        counts = shares.counts
        var keySpaces: [String: KeySpace] = [:]
        for table in layout.tables {
            let concrete = layout.entities.filter {
                layout.model.root(of: $0) == table.rootEntity && shares.counts[$0] != nil
            }
            keySpaces[table.rootEntity] = KeySpace(
                concrete.map {
                    ($0, layout.entityNumbers[$0] ?? 0, shares.counts[$0] ?? 0, shares.weights[$0] ?? 1)
                })
        }
        self.keySpaces = keySpaces
        let links = LinkPlan(
            layout: layout, keySpaces: keySpaces, uniqueRoles: unique.roles, seed: options.seed)
        self.links = links
        let planner = TablePlanner(
            layout: layout, options: options, links: links, archives: try SampleArchives.make())
        tables = layout.tables.compactMap { table in
            keySpaces[table.rootEntity].map { planner.plan(table, keys: $0) }
        }
    }
}

/// Keyed archives for transformable attributes.
enum SampleArchives {
    private static let tags = [["orchard"], ["autumn", "harvest"], ["cider", "oak", "russet"], []]
    /// How many `make` gives; all are different.
    static let count = 2 * tags.count

    /// An array and a dictionary of strings for each list of tags.
    static func make() throws(GenerationError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for tags in tags {
            do throws(PropertyListError) {
                var list = KeyedArchiveWriter()
                let items = tags.map { list.string($0) }
                let array = list.array(items)
                result.append(try list.bytes(root: array))
                var map = KeyedArchiveWriter()
                let entries = tags.enumerated().map { (key: map.string("tag\($0)"), value: map.string($1)) }
                let dictionary = map.dictionary(entries)
                result.append(try map.bytes(root: dictionary))
            } catch {
                throw GenerationError(.unusableModel, "a sample archive can't be written: \(error)")
            }
        }
        return result
    }
}
