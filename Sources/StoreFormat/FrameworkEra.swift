/// The boundaries between the layouts that Core Data wrote over the years, by `NSPersistenceFrameworkVersion`. Each
/// value lies between the last version seen with the old form and the first with the new (InsideStoreFormat §§1, 7, 9).
package enum FrameworkEra {
    /// Up to 519 a table is followed by its indexes, join tables have no second index, and there is no Z_MODELCACHE;
    /// from 637 the modern order holds.
    static let modelCache = 600
    /// Up to 754 indexes are named for table and column; from 847 for entity and fetch index.
    static let fetchIndexes = 800
    /// Up to 851 uniqueness is a clause of the table and history has no string table; from 865 a unique index is made.
    static let uniqueIndexes = 860
    /// Up to 866 a table that gains a column is rebuilt; from 977 ALTER TABLE adds it (InsideCoreDataMigration §7.3).
    package static let addsColumns = 900
    /// 969 is the first version that writes `NSStoreModelVersionHashesDigest`.
    static let hashesDigest = 969
    /// 973 and 977 print two spaces after a partial index's WHERE; 1030 prints one.
    static let singleBlankBeforePredicate = 1030
    /// At 1044 derived triggers of an entity with subentities test Z_ENT; at 1340 they don't.
    static let derivedTriggersWithoutRange = 1300
    /// 1321 is the first version that writes `NSStoreModelVersionChecksumKey`.
    static let checksum = 1321
    /// 1513 is the first version that writes `NSPersistenceMaximumFrameworkVersion`.
    static let maximumFrameworkVersion = 1513
}
