import Causeway
import Foundation

/// One artist in `Track.artistsJSON`.
private struct ArtistEntry: Decodable {
    let id: Int64
    let name: String
}

/// A track whose JSON can't be read, named so that it can be fixed.
private struct UnreadableArtists: Error, CustomStringConvertible {
    let track: String
    let reason: any Error

    var description: String { "\(track): artistsJSON can't be read: \(reason)" }
}

/// At v2: makes an artist for each different id in the tracks' JSON, and links the tracks with theirs.
///
/// The tracks come in batches, which are saved as they end. What is kept in memory is one entry for each artist. A
/// handler that was interrupted runs again on the rows as they were before it, so nothing has to be found or tidied up.
func makeArtists(in context: ObjectContext) throws {
    let decoder = JSONDecoder()
    var artists: [Int64: ManagedObject] = [:]
    var request = FetchRequest("Track", where: "artistsJSON != nil")
    request.fetchBatchSize = 500
    try context.forEach(request) { track in
        guard let json = try track.string("artistsJSON") else { return }
        let entries: [ArtistEntry]
        do {
            entries = try decoder.decode([ArtistEntry].self, from: Data(json.utf8))
        } catch {
            throw UnreadableArtists(track: track.uri, reason: error)
        }
        let members = try entries.map { entry in
            if let known = artists[entry.id] { return known }
            let artist = try context.insert("Artist")
            try artist.set("id", to: .integer(entry.id))
            try artist.set("name", to: entry.name)
            artists[entry.id] = artist
            return artist
        }
        // A set: an artist whom the JSON names twice is linked once.
        try track.set("artists", to: members)
    }
}
