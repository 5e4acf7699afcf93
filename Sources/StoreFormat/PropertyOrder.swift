import CausewayModel

/// The order in which Core Data enumerates an entity's properties: by bucket of a hash table (InsideStoreFormat §5.3).
///
/// Two properties of one bucket are sorted by name. The order is a heuristic that holds for nearly all stores; where it
/// decides a name, the layout says so in `undecidable`.
enum PropertyOrder {
    /// CFDictionary's table sizes, each with its capacity.
    private static let tables: [(size: UInt64, capacity: Int)] = [
        (3, 3), (7, 6), (13, 11), (23, 19), (41, 32), (71, 52), (127, 85), (191, 118), (251, 155), (383, 237),
        (631, 390), (1087, 672), (1723, 1065), (2803, 1732), (4523, 2795), (7351, 4543), (11959, 7391),
        (19447, 12019), (31231, 19302), (50683, 31324), (81919, 50629), (132607, 81956),
    ]

    /// `entries` counts what Core Data's own dictionary holds: the properties, three house columns, and for each to-one
    /// its column, entity number and order key.
    static func sorted(_ names: [String], entries: Int, width: HashWidth) -> [String] {
        let size = (tables.first { $0.capacity >= entries } ?? tables[tables.count - 1]).size
        return
            names
            .map { (bucket: CFStringHash.hash($0, width: width) % size, name: $0) }
            .sorted {
                $0.bucket == $1.bucket ? ManagedObjectModel.compareOrder($0.name, $1.name) : $0.bucket < $1.bucket
            }
            .map(\.name)
    }
}
