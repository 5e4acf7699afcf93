/// The nearest candidate for a mistyped word; nil if none is near.
package func nearest(to word: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { (name: $0, distance: editDistance(word, $0)) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    // A third of the letters may be wrong: more is another word.
    return best.distance <= max(1, best.name.count / 3) ? best.name : nil
}

/// Letters to insert, remove, replace or swap with their neighbour (optimal string alignment).
private func editDistance(_ a: String, _ b: String) -> Int {
    // A path in the command's place may be long, and isn't a misspelled command.
    let (x, y) = (Array(a.prefix(64)), Array(b.prefix(64)))
    var rows = [Array(0...y.count)]
    for i in 1..<(x.count + 1) {
        var row = [i]
        for j in 1..<(y.count + 1) {
            var best = min(
                rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1))
            if i > 1, j > 1, x[i - 1] == y[j - 2], x[i - 2] == y[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[x.count][y.count]
}
