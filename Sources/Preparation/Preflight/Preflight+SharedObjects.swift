import CausewayPlanning
import CausewaySQLite
import CausewayStores

extension Preflight {
    /// Objects with several owners whose relationship becomes a to-many without inverse, which has room for one: the
    /// further links need `--end-links`. Reads the links of each such relationship once. What a later step loses is
    /// counted in the store's own rows before the first step; behind mapping models and handlers, when the step begins.
    func sharedObjects() throws(SQLiteError) -> Findings {
        var findings = Findings()
        let isFirst = step.firstStep == 0
        let hop = step.versions.prefix(2).joined(separator: " → ")
        for loss in isFirst ? steps.flatMap(\.lost) : step.lost.filter({ $0.step == hop }) {
            guard case .furtherOwners(let place) = loss.kind,
                case .furtherLinks(let ends)? = isFirst ? loss.content : loss.contentOfStep
            else { continue }
            let (objects, links) = try crowded(ends, &findings)
            guard links > 0 else { continue }
            let text = """
                end \(links == 1 ? "1 link" : "\(links) links") of \(place): a to-many without inverse has one owner for each \
                object, and several lead to \(objects.count == 1 ? "1 object" : "\(objects.count) objects") (\(objects.list))
                """
            if endsLinks {
                findings.notices.append("\(loss.step): will \(text)")
            } else {
                findings.refuse(
                    "\(loss.step): would \(text)",
                    remedy: """
                        end these links with --end-links, give the relationship a to-many inverse in the model, or carry \
                        them with a mapping model
                        """)
            }
        }
        return findings
    }

    /// The objects at these ends that have several links, and the number of links beyond each object's first.
    func crowded(
        _ ends: Set<StoreContent.LinkEnd>, _ findings: inout Findings
    ) throws(SQLiteError) -> (objects: FoundRows, furtherLinks: Int) {
        var (objects, links) = (FoundRows(), 0)
        for end in ends.sorted() {
            let storage: LinkStorage
            do throws(PlanError) {
                storage = try LinkStorage(end.links, in: step.source)
            } catch {
                findings.refuse("\(error)", remedy: "restore the store from a backup")
                continue
            }
            var statement = try source.connection.prepare(storage.crowded(end))
            while try statement.step() {
                objects.add(statement.int64(at: 0))
                links += Int(clamping: statement.int64(at: 1)) - 1
            }
        }
        return (objects, links)
    }
}
