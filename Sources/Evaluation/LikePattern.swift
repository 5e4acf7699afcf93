/// The pattern of `LIKE`: `?` is any one character, `*` any number of them, a backslash takes the next one literally.
struct LikePattern: Sendable {
    private enum Piece: Equatable, Sendable {
        case scalar(Unicode.Scalar)
        case any
        case many
    }

    private let pieces: [Piece]

    init(_ pattern: String) {
        var pieces: [Piece] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case _ where isEscaped:
                pieces.append(.scalar(scalar))
                isEscaped = false
            case "\\": isEscaped = true
            case "?": pieces.append(.any)
            case "*": if pieces.last != .many { pieces.append(.many) }
            default: pieces.append(.scalar(scalar))
            }
        }
        if isEscaped { pieces.append(.scalar("\\")) }
        self.pieces = pieces
    }

    /// Whether the whole text is like the pattern.
    func matches(_ text: String) -> Bool {
        let text = Array(text.unicodeScalars)
        var (place, piece) = (0, 0)
        var star: (piece: Int, place: Int)?
        while place < text.count {
            if piece < pieces.count, pieces[piece] == .many {
                star = (piece, place)
                piece += 1
            } else if piece < pieces.count, pieces[piece] == .any || pieces[piece] == .scalar(text[place]) {
                piece += 1
                place += 1
            } else if let last = star {
                // The last star takes one character more.
                star = (last.piece, last.place + 1)
                piece = last.piece + 1
                place = last.place + 1
            } else {
                return false
            }
        }
        while piece < pieces.count, pieces[piece] == .many { piece += 1 }
        return piece == pieces.count
    }
}
