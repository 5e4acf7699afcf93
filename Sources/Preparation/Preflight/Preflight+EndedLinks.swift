import CausewayMapping
import CausewayModel
import CausewayPlanning
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

extension Preflight {
    /// Links that end because their relationship leads to another entity: they need `--end-links`. Reads each such
    /// relationship's links once, whatever the number of steps. Mandatory relationships are checked with the other
    /// mandatory properties.
    func endedLinks() throws(SQLiteError) -> Findings {
        var findings = Findings()
        let losses: [LinkLoss]
        do throws(PlanError) {
            losses = try linkLosses()
        } catch {
            findings.refuse("\(error)", remedy: "restore the store from a backup")
            return findings
        }
        for loss in try counted(losses) where loss.count > 0 {
            let targets = loss.counts.keys.sorted().map { step.source.entities[$0 - 1] }
            let ending = loss.ending
            let joined = joinedObjects(of: loss)
            let place = "\(ending.entity).\(ending.relationship)" + (joined.map { " and its inverse \($0)" } ?? "")
            let reason =
                "it leads to \(ending.leadsTo) now, and these links lead to "
                + "\(targets.joined(separator: ", ")) objects"
            let links = loss.count == 1 ? "1 link" : "\(loss.count) links"
            if endsLinks {
                if told?.followsRows != true {
                    findings.notices.append("\(hop(ending.step)): will end \(links) of \(place): \(reason)")
                }
            } else {
                findings.refuse(
                    "\(hop(ending.step)): would end \(links) of \(place)\(try rowsText(loss)): \(reason)",
                    remedy: """
                        end these links with --end-links\(detour(over: ending.step) { $0.leads(ending) }), or \
                        \(joined == nil ? "carry them with a mapping model" : Self.policy(making: ending.leadsTo))
                        """)
            }
        }
        return findings
    }

    private static func policy(making entity: String) -> String {
        "have a policy make a \(entity) object of each link (Policies shows how; a mapping model without one can't)"
    }

    /// The inverse of a many-to-many whose destination is a new entity now: each link would have to become an object.
    private func joinedObjects(of loss: LinkLoss) -> String? {
        let (links, model) = (loss.ending.links, step.sourceModel)
        guard let found = model.relationship(links.relationship, of: links.entity)?.relationship, found.isToMany,
            let inverse = model.inverse(of: found), inverse.relationship.isToMany,
            !steps.contains(where: { $0.mapping.mapping(to: loss.ending.leadsTo)?.source != nil })
        else { return nil }
        return "\(inverse.owner).\(inverse.relationship.name)"
    }

    /// Links of one relationship that end in one step.
    private struct LinkLoss {
        let ending: LinkEnding
        let census: LinkCensus
        /// Source Z_ENTs of the rows that have the relationship.
        var owners: Set<Int>
        let targets: Set<Int>
        /// How many links end, by the Z_ENT at their other end.
        var counts: [Int: Int] = [:]

        var count: Int { counts.values.reduce(0, +) }
    }

    /// What may end in any of the steps, earlier steps first. Rows that become objects can't be followed.
    private func linkLosses() throws(PlanError) -> [LinkLoss] {
        var mapping = step.mapping
        guard step.objects == nil else { return [] }
        for later in makesObjects ? [] : steps.dropFirst().prefix(while: { $0.objects == nil }) {
            mapping = mapping.followed(by: later.mapping)
        }
        var losses: [LinkLoss] = []
        for entity in mapping.entityMappings {
            guard let owner = entity.source.flatMap({ step.sourceNumbers[$0] }) else { continue }
            for ending in entity.endings {
                let targets = Set(ending.targets.compactMap { step.sourceNumbers[$0] })
                let census = try LinkCensus(ending.links, in: step.source)
                let same = losses.firstIndex {
                    $0.census.relationship == census.relationship && $0.census.isSwapped == census.isSwapped
                        && $0.targets == targets && $0.ending.step == ending.step
                        && $0.ending.entity == ending.entity && $0.ending.relationship == ending.relationship
                }
                if let same {
                    losses[same].owners.insert(owner)
                } else {
                    losses.append(LinkLoss(ending: ending, census: census, owners: [owner], targets: targets))
                }
            }
        }
        return losses.sorted { $0.ending.step < $1.ending.step }
    }

    /// A link ends once: in the first step in which one of its ends loses it.
    private func counted(_ losses: [LinkLoss]) throws(SQLiteError) -> [LinkLoss] {
        var losses = losses
        for group in Dictionary(grouping: losses.indices, by: { losses[$0].census.relationship }).values {
            guard let first = group.first else { continue }
            var statement = try source.connection.prepare(losses[first].census.sql)
            while try statement.step() {
                guard !statement.isNull(at: 0), !statement.isNull(at: 1) else { continue }
                let ends = (Int(clamping: statement.int64(at: 0)), Int(clamping: statement.int64(at: 1)))
                let place = group.first {
                    let (owner, target) = losses[$0].census.isSwapped ? (ends.1, ends.0) : ends
                    return losses[$0].owners.contains(owner) && losses[$0].targets.contains(target)
                }
                guard let place else { continue }
                let target = losses[place].census.isSwapped ? ends.0 : ends.1
                losses[place].counts[target, default: 0] += Int(clamping: statement.int64(at: 2))
            }
        }
        return losses
    }

    /// ` (p1, p2, …)`: the rows that have the links; empty if the links are in another table.
    private func rowsText(_ loss: LinkLoss) throws(SQLiteError) -> String {
        guard !loss.census.isSwapped else { return "" }
        var found: [Int64] = []
        for owner in loss.owners.sorted() {
            guard let rows = loss.census.rows(of: owner, linkedTo: loss.targets.sorted()) else { return "" }
            found += try keys(in: rows.table, where: rows.condition)
        }
        guard !found.isEmpty else { return "" }
        return " (\(FoundRows(count: loss.count, keys: Array(found.sorted().prefix(Self.namedRows))).list))"
    }

    /// `V1 → V2`: the versions of a step of the path.
    private func hop(_ index: Int) -> String {
        for step in steps where index < step.firstStep + step.versions.count - 1 {
            let place = max(0, index - step.firstStep)
            return step.versions[place...].prefix(2).joined(separator: " → ")
        }
        return step.versions.joined(separator: " → ")
    }
}
