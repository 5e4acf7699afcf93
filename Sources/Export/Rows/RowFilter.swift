import CausewayEvaluation
import CausewayExpressions
import CausewayModel
import CausewayObjects
import CausewayPlanning
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// The rows that a predicate chooses, evaluated as the filters of mapping models are.
final class RowFilter {
    private let context: ObjectContext
    private let scope: EvaluationScope
    /// By the Z_ENT of the entities that were named, with those below each.
    private var predicates: [Int32: CompiledPredicate] = [:]
    /// Rows for which the predicate follows a link to a row that isn't there, by entity.
    private var unanswered: [String: FoundRows] = [:]

    /// A sentence about each entity with rows that couldn't be judged.
    var warnings: [String] {
        unanswered.sorted { $0.key < $1.key }.map { name, rows in
            "\(name): --where follows a link to a row that isn't there, and so leaves the row out, in \(rows.described)"
        }
    }

    /// - Parameters:
    ///   - text: in the language of predicates.
    ///   - entities: every one of them must have what the predicate names.
    ///   - map: of the store.
    ///   - store: open as long as the filter is used.
    /// - Throws: `.usage` where the predicate can't be read, or doesn't fit an entity.
    init(_ text: String, entities: [String], _ map: StorageMap, _ store: SourceStore) throws(EngineError) {
        let parsed: Predicate
        do throws(ExpressionSyntaxError) {
            parsed = try Predicate(parsing: text)
        } catch {
            throw EngineError(.usage, "--where: \(error)")
        }
        for entity in entities {
            do throws(CompilationError) {
                let compiled = try ExpressionCompiler(evaluated: .object(map.schema, entity: entity)).compile(parsed)
                guard let numbers = map.layout.numbers(ofTree: entity) else { continue }
                for number in numbers { predicates[Int32(clamping: number)] = compiled }
            } catch {
                throw EngineError(
                    .usage, "--where: \(entity): \(error)",
                    remedy: "name the entities that the predicate fits with --entity")
            }
        }
        let external = ExternalValues(directory: store.location.externalData)
        context = ObjectContext(
            map, side: .source, mode: .readOnly, storeUUID: store.metadata.uuid,
            access: StoreAccess { sql throws(SQLiteError) in try store.connection.prepare(sql, persistent: true) },
            content: external.content(ofProperty:))
        scope = EvaluationScope(now: WallClock.secondsSinceReferenceDate(), sourceGraph: context)
    }

    deinit {
        context.close()
    }

    /// Whether the row is chosen.
    func takes(_ entity: Int32, named name: String, key: Int64) throws(EngineError) -> Bool {
        guard let predicate = predicates[entity] else { return true }
        if let constant = predicate.constant { return constant }
        scope.evaluated = .object(ObjectID(side: .source, entity: entity, key: key))
        if context.heldRows >= ObjectContext.defaultCapacity { context.forget() }
        do throws(EvaluationError) {
            return try predicate.evaluate(scope)
        } catch {
            guard error.code != .missing else {
                unanswered[name, default: FoundRows()].add(key)
                return false
            }
            if let cause = error.cause as? ObjectError { throw EngineError(cause, during: "\(name) p\(key)") }
            throw EngineError(.sourceData, "--where: \(name) p\(key): \(error)")
        }
    }
}
