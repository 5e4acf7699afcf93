import CausewayEvaluation
import CausewayObjects
import CausewayPlanning
import CausewaySQLite
import CausewaySQLiteFile
import CausewayStores

/// The two stores of a step as objects: makes contexts on their connections.
struct ObjectStores: Sendable {
    let objects: ObjectStep
    let storeUUID: String
    let external: ExternalValues
    /// Seconds since 2001: the value of `now()` in the whole step.
    let now: Double
    /// By table of the new store: what `ObjectContext` says. Empty for a step between, all of whose rows keep their
    /// keys.
    var largestKeptKeys: [Int64] = []

    func source(_ reader: SourceReader) -> ObjectContext {
        ObjectContext(
            objects.source, side: .source, mode: .readOnly, storeUUID: storeUUID,
            access: StoreAccess { sql throws(SQLiteError) in try reader.connection.prepare(sql, persistent: true) },
            content: external.content(ofProperty:))
    }

    /// A source of which only the row in hand is there.
    func unreadSource() -> ObjectContext {
        ObjectContext(
            objects.source, side: .source, mode: .readOnly, storeUUID: storeUUID, access: nil,
            content: external.content(ofProperty:))
    }

    func destination(_ staging: ObjectStaging, keys: KeySource) -> ObjectContext {
        ObjectContext(
            objects.destination, side: .destination, mode: .writable(keys, staging), storeUUID: storeUUID,
            access: staging.access, largestKeptKeys: largestKeptKeys, content: external.content(ofProperty:))
    }

    func detached() -> ObjectContext {
        ObjectContext(
            objects.destination, side: .destination, mode: .detached, storeUUID: storeUUID, access: nil,
            largestKeptKeys: largestKeptKeys, content: external.content(ofProperty:))
    }

    /// The session of one thread.
    func session(source: ObjectContext, destination: ObjectContext, associations: Associations?) -> MigrationSession {
        MigrationSession(
            source: source, destination: destination,
            mappings: objects.mappings.map { CausewayObjects.EntityMapping($0.description, index: $0.index) },
            plans: objects.mappings, associations: associations, now: now)
    }
}
