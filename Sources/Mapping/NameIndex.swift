import Synchronization

/// Indices in an array by name, found once: looking up many names by search would take quadratic time.
struct NameIndex: Hashable, Sendable {
    /// Below this a search is as fast.
    private static let shortest = 9

    private final class Memory: Sendable {
        let places = Mutex<[String: Int]?>(nil)
    }

    private let memory = Memory()

    /// The first element of this name.
    func first<Element>(_ name: String, in elements: [Element], named: (Element) -> String?) -> Element? {
        guard elements.count >= Self.shortest else { return elements.first { named($0) == name } }
        let place = memory.places.withLock { known in
            if let known { return known[name] }
            var made: [String: Int] = [:]
            for (place, element) in elements.enumerated() {
                if let name = named(element), made[name] == nil { made[name] = place }
            }
            known = made
            return made[name]
        }
        return place.map { elements[$0] }
    }

    /// It depends on the array, which is compared.
    static func == (left: NameIndex, right: NameIndex) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
