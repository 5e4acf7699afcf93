public import CausewayEvaluation
import CausewayModel
package import CausewayPlanning
package import CausewaySQLiteFile
import CausewayStoreFormat

/// The objects of one store, as a policy or a stage's handler sees them: what `NSManagedObjectContext` is to them.
///
/// Memory is bounded: objects that were made or changed are written in batches, objects that were read are released; a
/// `ManagedObject` names its row and finds it again. A context belongs to the thread of the hook that got it.
public final class ObjectContext {
    /// Whether new and changed rows go to a store of this context, stay with a worker, or are refused.
    package enum Mode {
        /// A source store.
        case readOnly
        /// The rows of one batch on a worker: without a store; they get keys later.
        case detached
        /// A store under construction: new objects get keys, and all changes go to the output.
        case writable(KeySource, any PolicyRowOutput)
    }

    /// The row of a batch that is being migrated: read where it is, never copied.
    struct CurrentRow {
        var object: ObjectID
        let view: RowView
        /// The row's cell by column of its table; −1 for a column that wasn't selected.
        let cells: [Int]
        var row: Int32

        mutating func move(to object: ObjectID, row: Int32) {
            self.object = object
            self.row = row
        }
    }

    /// What code has asked of a source of which only the row in hand is there: steps that run together have no more.
    package struct Asked: Sendable {
        /// For other rows: it got an error or nothing, which a store would have answered.
        package internal(set) var others = false
        /// For links of the row in hand.
        package internal(set) var links = false
    }

    package let map: StorageMap
    package let side: ObjectID.Side
    package let mode: Mode
    /// Rows without a key exist only here: negative keys are their indices.
    let isDetached: Bool
    let storeUUID: String
    let statements: StatementCache?
    /// The data behind a stored value of an attribute that allows external storage.
    let content: ([UInt8]) throws(ObjectError) -> [UInt8]
    var tables: [RowTable]
    var linkChanges: [LinkChange] = []
    /// New rows to which others were linked: the others' cells hold the links.
    var linkedOwners = LinkedOwners()
    var hasNewJoins = false
    /// Where the current source row's changes begin in `linkChanges`.
    var ownLinkChanges = 0
    /// The value of `now()` in fetch predicates, in seconds since 2001-01-01: the run's.
    package var now: Double = 0
    /// Open fetches with their result in a temporary table.
    var openFetches = 0
    /// Rows deleted so far: if it grows during a fetch, the fetch checks whether its rows still exist.
    var deletions = 0
    /// For carried cells of rows with another source row than the current one.
    lazy var spareView = RowView(capacity: PendingRows.maximumCells)
    var current: CurrentRow?
    /// The batch with the carried cells.
    package var sourceBatch: RowBatch?
    /// The key that the next new row of this entity takes over from its source row.
    package var keptKey: (entity: Int32, key: Int64)?
    /// By table: the largest key that a row can have kept of its source row; larger ones are given to others. Empty
    /// where that isn't known, or no row gets another key.
    private let largestKeptKeys: [Int64]
    private var templates: [RowTemplate?]
    /// Attributes by Z_ENT − 1, then by handle; an entity's list is made when it is first needed.
    var attributes: [[AttributePlace?]]
    var propertyNames = NameCache<PropertyHandle>()
    var entityNames = NameCache<Int32>()
    /// Memory of the last text that a hook put together.
    var textMemory: [UInt8] = []
    package internal(set) var asked = Asked()
    private(set) var settlement: RowSettlement?
    /// Rows in memory before they are written or released.
    private let capacity: Int

    /// Rows that a context holds before it writes or releases them: a few MB of ordinary rows.
    package static let defaultCapacity = 4_096

    package init(
        _ map: StorageMap, side: ObjectID.Side, mode: Mode, storeUUID: String, access: StoreAccess?,
        capacity: Int = ObjectContext.defaultCapacity, largestKeptKeys: [Int64] = [],
        content: @escaping ([UInt8]) throws(ObjectError) -> [UInt8]
    ) {
        self.map = map
        self.side = side
        self.mode = mode
        if case .detached = mode { isDetached = true } else { isDetached = false }
        self.storeUUID = storeUUID
        (self.capacity, self.largestKeptKeys) = (capacity, largestKeptKeys)
        self.content = content
        let statements = access.map { StatementCache($0) }
        self.statements = statements
        tables = map.tables.map { RowTable(columnCount: $0.columns.count) }
        templates = Array(repeating: nil, count: map.schema.entities.count)
        attributes = Array(repeating: [], count: map.schema.entities.count)
        if case .writable(let keys, let output) = mode, let statements {
            settlement = RowSettlement(map, keys, output, statements)
        }
    }

    /// The object with this identity.
    ///
    /// - Parameter id: an identity of this context's store.
    /// - Returns: the object; a missing row is reported when it is read.
    public func object(with id: ObjectID) -> ManagedObject {
        ManagedObject(context: self, objectID: id)
    }

    /// The row for people: `Entity p12`.
    func name(_ object: ObjectID) -> String {
        object.key > 0 ? "\(map.name(of: object.entity)) p\(object.key)" : "new \(map.name(of: object.entity))"
    }

    /// Whether a row can have kept this key of its source row.
    ///
    /// A link may lead to no row, by a key that is larger than all: a new row may get it, which isn't its target.
    func mayBeKept(_ key: Int64, of entity: Int32) -> Bool {
        guard let table = map.table(of: entity), largestKeptKeys.indices.contains(table) else { return true }
        return key <= largestKeptKeys[table]
    }

    /// Whether changes can be written.
    var isWritable: Bool { settlement != nil }

    /// - Throws: `store` in a context that is only read.
    func requireChangeable(_ object: ObjectID) throws(ObjectError) {
        if case .readOnly = mode {
            throw ObjectError(
                .store, "\(name(object)): the source store is only read; change the destination's objects")
        }
    }

    // MARK: - New rows

    /// Makes an object, with the model's defaults in its attributes.
    ///
    /// It is written with the current batch. As `NSEntityDescription.insertNewObject(forEntityName:into:)`.
    ///
    /// - Parameter entity: the name of an entity that isn't abstract.
    /// - Returns: the new object.
    /// - Throws: `ObjectError` where the model has no such entity or the context is a source's.
    public func insert(_ entity: String) throws(ObjectError) -> ManagedObject {
        ManagedObject(context: self, objectID: try insert(try number(of: entity)))
    }

    /// Makes an object of the entity with this Z_ENT.
    package func insert(_ entity: Int32) throws(ObjectError) -> ObjectID {
        guard let table = map.table(of: entity) else {
            throw ObjectError(.unknownEntity, "the \(side) model has no entity with the number \(entity)")
        }
        let template: RowTemplate
        if let known = templates[Int(entity) - 1] {
            template = known
        } else {
            template = try RowTemplate(entity, map)
            templates[Int(entity) - 1] = template
        }
        try makeRoom(in: table)
        let key: Int64
        if let kept = keptKey, kept.entity == entity {
            (key, keptKey) = (kept.key, nil)
        } else {
            switch mode {
            case .readOnly:
                throw ObjectError(
                    .store, "\(map.name(of: entity)): the source store is only read; insert into the destination")
            case .detached: key = 0
            case .writable(let source, _): key = try source.keys.next(in: table)
            }
        }
        let index = tables[table].append(
            key: key, entity: entity, state: .inserted, sourceRow: current?.row ?? -1, template: template.cells)
        for each in template.values { tables[table].fill(index, each.column, with: each.value) }
        return ObjectID(side: side, entity: entity, key: key != 0 ? key : -Int64(index) - 1)
    }

    // MARK: - Memory

    /// Rows in memory.
    package var heldRows: Int { tables.reduce(0) { $0 + $1.count } }

    /// Writes new objects and releases all, if there are many.
    package func flushIfFull() throws(ObjectError) {
        guard heldRows >= capacity else { return }
        try flush()
    }

    /// Before a row is added: the capacity also holds for hooks that read or make many rows. Rows of a detached context
    /// can't be written.
    func makeRoom(in table: Int) throws(ObjectError) {
        guard tables[table].count >= capacity else { return }
        switch mode {
        case .readOnly: forget()
        case .writable: try flush()
        case .detached: return
        }
    }

    /// Releases everything that was read or written.
    package func forget() {
        for index in tables.indices { tables[index].removeAll() }
        linkChanges.removeAll(keepingCapacity: true)
        linkedOwners.removeAll()
        hasNewJoins = false
        ownLinkChanges = 0
    }

    /// Ends the context's statements.
    package func close() {
        statements?.removeAll()
        settlement = nil
        if case .writable(_, let output) = mode { output.close() }
        current = nil
    }
}
