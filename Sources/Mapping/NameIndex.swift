import CausewayModel

/// Indices in an array by name, found once: looking up many names by search would take quadratic time.
struct NameIndex: Hashable, Sendable {
    /// Below this a search is as fast.
    private static let shortest = 9

    private let places = Remembered<[String: Int]>()

    func first<Element>(_ name: String, in elements: [Element], named: (Element) -> String?) -> Element? {
        guard elements.count >= Self.shortest else { return elements.first { named($0) == name } }
        let places = places.value {
            let named = elements.enumerated().compactMap { place, element in named(element).map { ($0, place) } }
            return Dictionary(named, uniquingKeysWith: { first, _ in first })
        }
        return places[name].map { elements[$0] }
    }
}
