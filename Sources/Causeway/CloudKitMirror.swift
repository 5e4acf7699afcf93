import CausewayPreparation
import CausewayStores

/// What the tables of CloudKit mirroring (`ANSCK…`) say about a store's objects.
public struct CloudKitMirror: Hashable, Codable, Sendable {
    /// The mirror's tables.
    public var tables: Int
    /// Objects that it knows.
    public var objects: Int
    /// Objects that it has marked for upload, or has never sent. What the app has saved since it last looked isn't
    /// among them.
    public var waitingForUpload: Int
    /// Objects that are gone here and are to be deleted in the cloud.
    public var waitingForDeletion: Int

    init(_ counts: CloudKitCounts) {
        tables = counts.tables
        objects = counts.objects
        waitingForUpload = counts.waitingForUpload
        waitingForDeletion = counts.waitingForDeletion
    }
}

extension MigrationPlan {
    /// What becomes of a store's CloudKit mirror.
    public struct CloudKit: Hashable, Sendable, Codable {
        /// The mirror's tables, all of which are carried.
        public var tables: Int
        /// Objects that it knows.
        public var objects: Int
        /// Objects that it has marked for upload, or has never sent.
        public var waitingForUpload: Int
        /// Objects that are gone here and are to be deleted in the cloud.
        public var waitingForDeletion: Int
        /// Rows of the mirror, and of the history, that aren't carried.
        public var leftOut: [LeftOut]

        init(_ report: MirrorReport) {
            tables = report.counts.tables
            objects = report.counts.objects
            waitingForUpload = report.counts.waitingForUpload
            waitingForDeletion = report.counts.waitingForDeletion
            leftOut = report.leftOut.map { LeftOut($0) }
        }

        /// Rows of one table that a step leaves out, for one reason.
        public struct LeftOut: Hashable, Sendable, Codable {
            /// The versions that the step leads through.
            public var versions: [String]
            /// The table: the mirror's, or `ACHANGE`.
            public var table: String
            /// How many rows.
            public var rows: Int
            /// `entity` or `relationship`: it is gone; `owner`: the rows belong to others that are left out;
            /// `unknownEntity`: they name an entity that the store's version doesn't have.
            public var reason: String
            /// `Entity` or `Entity.relationship`; nil for the other reasons.
            public var subject: String?

            init(_ leftOut: MirrorReport.LeftOut) {
                versions = leftOut.versions
                table = leftOut.table
                rows = leftOut.rows
                reason = leftOut.reason.rawValue
                subject = leftOut.subject
            }
        }
    }
}
