// Collections in the shapes that Core Data's own archives have (InsideStoreFormat §8).

extension ArchivedClass {
    package static let array = ArchivedClass(["NSArray", "NSObject"])
    package static let mutableArray = ArchivedClass(["NSMutableArray", "NSArray", "NSObject"])
    package static let set = ArchivedClass(["NSSet", "NSObject"])
    package static let dictionary = ArchivedClass(["NSDictionary", "NSObject"])
    package static let mutableDictionary = ArchivedClass(["NSMutableDictionary", "NSDictionary", "NSObject"])
    package static let knownKeysDictionary = ArchivedClass([
        "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
    ])
    package static let knownKeysMapping = ArchivedClass([
        "NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject",
    ])
}

extension KeyedArchiveWriter {
    /// The token in an empty slot of a known-keys dictionary.
    private static let emptyToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

    package mutating func array(_ items: [Reference]) -> Reference { list(.array, items) }
    package mutating func mutableArray(_ items: [Reference]) -> Reference { list(.mutableArray, items) }
    /// An `NSSet`; the order of the items is kept, so give them in an order that doesn't change.
    package mutating func set(_ items: [Reference]) -> Reference { list(.set, items) }

    package mutating func dictionary(_ entries: [(key: Reference, value: Reference)]) -> Reference {
        pairs(.dictionary, entries)
    }

    package mutating func mutableDictionary(_ entries: [(key: Reference, value: Reference)]) -> Reference {
        pairs(.mutableDictionary, entries)
    }

    /// An `NSKnownKeysDictionary1`. Core Data searches its keys by bisection: they are sorted here, by their bytes.
    package mutating func knownKeysDictionary(_ entries: [(key: String, value: Reference)]) -> Reference {
        let reference = reserve()
        let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let keys = array(sorted.map { string($0.key) })
        let mapping = add(
            .knownKeysMapping,
            [("keys", .reference(keys)), ("length", .integer(Int64(sorted.count))), ("version", .integer(1))])
        let token = string(Self.emptyToken)
        let values = array(sorted.map(\.value))
        fill(
            reference, .knownKeysDictionary,
            [
                ("searchMapping", .reference(mapping)), ("values", .reference(values)),
                ("emptyToken", .reference(token)), ("version", .integer(1)),
            ])
        return reference
    }

    private mutating func list(_ kind: ArchivedClass, _ items: [Reference]) -> Reference {
        add(kind, [("NS.objects", .references(items))])
    }

    private mutating func pairs(
        _ kind: ArchivedClass, _ entries: [(key: Reference, value: Reference)]
    ) -> Reference {
        add(kind, [("NS.keys", .references(entries.map(\.key))), ("NS.objects", .references(entries.map(\.value)))])
    }
}
