import Causeway

/// The nearest candidate for a mistyped word; nil if none is near.
package func nearest(to word: String, among candidates: [String]) -> String? {
    // A path in the command's place may be long, and isn't a misspelled command.
    let letters = Array(word.prefix(64))
    let ranked = candidates.map { (name: $0, distance: Spelling.distance(letters, Array($0.prefix(64)))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    // A third of the letters may be wrong: more is another word.
    return best.distance <= max(1, best.name.count / 3) ? best.name : nil
}
