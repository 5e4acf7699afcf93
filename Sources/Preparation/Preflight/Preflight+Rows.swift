import CausewayMapping
import CausewayModel
import CausewayPlanning
package import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Rows whose Z_ENT or Z_PK no object can have, and rows that lack a value which a later version makes mandatory. Each
/// table is read once, and once more for each query that finds rows.
extension Preflight {
    /// A question about the rows of one table.
    private struct Question {
        var table: String
        /// Of a row `t`.
        var condition: String
        /// Holds for those rows that certainly break a demand; nil if all do.
        var surely: String?
        /// Takes the number of rows (not 0) with the keys of the first, then the number of certain ones.
        var report: (FoundRows, Int, inout Findings) -> Void
    }

    private static let repair = "repair or delete these rows in a copy of the store"
    private static let reject = "leave these rows out with --on-violation reject --rejects FILE"
    private static let quarantine = "leave these rows out with --bad-rows quarantine --rejects FILE"

    func rows(_ breaches: [Breach]) throws -> Findings {
        let read = Set(step.passes.lazy.filter { $0.kind == .entity }.map(\.sourceTable))
        let identities = step.source.tables.flatMap { identityQuestions($0, isRead: read.contains($0.name)) }
        let questions = identities + (try linkQuestions()) + breaches.map(question)
        var census = RowCensus()
        let places = questions.map { question in
            let place = census.add(question.condition, in: question.table)
            return (place, question.surely.map { census.add($0, in: question.table) } ?? place)
        }
        let counts = try census.counts(in: source.connection)
        var findings = Findings()
        for (question, (place, least)) in zip(questions, places) where counts[place] > 0 {
            let keys = try keys(in: question.table, where: question.condition)
            question.report(FoundRows(count: counts[place], keys: keys), counts[least], &findings)
        }
        return findings
    }

    /// Keys of the first rows that fulfil a condition.
    package func keys(in table: String, where condition: String) throws(SQLiteError) -> [Int64] {
        var statement = try source.connection.prepare(
            """
            SELECT t.Z_PK FROM \(try SQLIdentifier(table)) AS t WHERE \(condition) ORDER BY t.Z_PK \
            LIMIT \(Self.namedRows)
            """)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.int64(at: 0)) }
        return keys
    }

    // MARK: - Numbers and keys

    private func identityQuestions(_ table: EntityTable, isRead: Bool) -> [Question] {
        let name = table.name
        guard let numbers = step.source.numbers(ofTree: table.rootEntity) else { return [] }
        let own = "t.Z_ENT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound)"
        let any = "t.Z_ENT BETWEEN 1 AND \(step.source.entities.count)"
        var questions: [Question] = []
        if !numberedByPages.contains(name) {
            questions += [
                stranger(name, "t.Z_ENT IS NULL", "Z_ENT is NULL", isRead: isRead),
                stranger(
                    name, "\(any) AND NOT \(own)", "Z_ENT is that of an entity with another table", isRead: isRead),
                stranger(name, "NOT \(any)", "Z_ENT names no entity of the model", isRead: isRead),
            ]
        }
        if makesObjects {
            // Core Data counts keys from 1; object IDs depend on it.
            questions.append(
                Question(table: name, condition: "t.Z_PK < 1") { rows, _, findings in
                    findings.refuse(
                        "table \(name): keys below 1, which no object can have, in \(rows.described)",
                        remedy: Self.repair)
                })
        }
        return questions
    }

    private func stranger(_ table: String, _ condition: String, _ complaint: String, isRead: Bool) -> Question {
        let (canQuarantine, quarantines) = (step.objects == nil, quarantines(step))
        return Question(table: table, condition: condition) { rows, _, findings in
            let text = "table \(table): \(complaint) in \(rows.described)"
            if quarantines {
                if isRead {
                    // The kinds of strangers are different rows.
                    findings.leftOut.add(
                        step: 0, entity: "table \(table) (\(complaint))", least: rows.count, most: rows.count)
                }
                findings.notices.append(text + (isRead ? "; to be quarantined" : "; they are dropped with the table"))
            } else {
                findings.refuse(text, remedy: (canQuarantine ? Self.quarantine + ", or " : "") + Self.repair)
            }
        }
    }

    /// Where pages are read, the first such row ends the run, and the whole check names all of them. Mapping models
    /// would take it for a link without one.
    private func linkQuestions() throws -> [Question] {
        try LinkEntity.all(in: step).filter { step.objects != nil || !numberedByPages.contains($0.table) }.map { link in
            let number = "t.\(try SQLIdentifier(link.column))"
            let numbers = link.numbers.map(String.init).joined(separator: ", ")
            let (canQuarantine, quarantines) = (step.objects == nil, quarantines(step))
            return Question(
                table: link.table, condition: "t.Z_ENT IN (\(numbers)) AND typeof(\(number)) NOT IN ('integer', 'null')"
            ) { rows, _, findings in
                let text = "\(link.entity).\(link.relationship): \(LinkEntity.complaint) in \(rows.described)"
                if quarantines {
                    findings.leftOut.add(step: 0, entity: link.entity, least: rows.count, most: rows.count)
                    findings.notices.append(text + "; to be quarantined")
                } else {
                    findings.refuse(text, remedy: (canQuarantine ? Self.quarantine + ", or " : "") + Self.repair)
                }
            }
        }
    }

    // MARK: - What is mandatory

    private func question(_ breach: Breach) -> Question {
        let (demand, condition) = (breach.demand, breach.rows.condition)
        let asking = steps[demand.step]
        return Question(
            table: breach.rows.table, condition: breach.rows.holds(condition.perhaps),
            surely: condition.isCertain ? nil : breach.rows.holds(condition.surely)
        ) { rows, least, findings in
            let entity = demand.entity
            let text = demand.subject
            guard demand.isCertain else {
                findings.notices.append(undecided(demand, rows))
                return
            }
            let loses = least < rows.count ? ", or may be after earlier steps leave rows out," : ""
            let complaint = "\(demand.complaint(rows.count, "\(rows.counted) of \(entity)", loses)) (\(rows.list))"
            guard breach.isLeftOut else {
                let reject = asking.objects == nil ? Self.quarantine : Self.reject
                let others = demand.effect == nil ? ", or \(reject)" : ""
                return findings.refuse("\(text), but \(complaint)", remedy: "\(advice(demand))\(others)")
            }
            findings.leftOut.add(step: demand.step, entity: entity, least: least, most: rows.count)
            guard told?.covers(demand) != true else { return }
            findings.notices.append(
                "\(text), \(complaint); "
                    + (least < rows.count
                        ? "at least \(least) of them to be quarantined: links to rows that earlier steps leave out end"
                        : "to be quarantined"))
        }
    }

    /// What is to be known of rows that may break a demand.
    private func undecided(_ demand: RowDemand, _ rows: FoundRows) -> String {
        let which = "\(rows.counted) of \(demand.entity) (\(rows.list))"
        let deciders = demand.deciders.joined(separator: " and ")
        if let effect = demand.effect {
            return """
                \(demand.subject): the run stops at the first row\(deciders.isEmpty ? "" : " left by \(deciders)") \
                that \(effect); there \(rows.count == 1 ? "is" : "are") \(which)
                """
        }
        return """
            \(demand.subject): whether \(which) fulfil it depends on \
            \(deciders.isEmpty ? "an expression" : deciders); the step \
            \(steps[demand.step].versions.joined(separator: " → ")) checks it when it begins
            """
    }

    private func advice(_ demand: RowDemand) -> String {
        let values = "add the missing values in a copy of the store"
        switch demand.cause {
        case .mapped(.unmapped, _):
            return "map the attribute, give it a default, or make it optional in the model"
        case .mapped(_, let hasDefault):
            let way =
                hasDefault
                ? "write the default with --on-violation default"
                : "give the attribute a default and use --on-violation default"
            return "\(way), change the expression, make the attribute optional in the model, \(values)"
        case .misfit: return "change the expression, or the attribute's type in the model"
        case .abstractTarget: return "give the mapping a destination entity that isn't abstract, or delete the rows"
        case .obligation(let obligation):
            let way = detour(over: obligation.step) { $0.obliges(obligation) }
            return "\(obligation.change.advice), \(values)\(way)"
        case .unfitDefault(let change, _, let versions):
            let end = steps[demand.step].version(ofStep: change.step)
            let way = versions.first.map { direct(from: $0, to: end) } ?? ""
            return "change the default in \(versions.dropFirst().joined(separator: " or "))\(way)"
        }
    }
}

extension RowDemand {
    /// How rows break it, as a clause; `loses` is added to what may be missing.
    fileprivate func complaint(_ count: Int, _ rows: String, _ loses: String) -> String {
        switch breach {
        case .value(let attribute): "\(attribute) isn't NULL in \(rows)"
        case .existing where bars: "there \(count == 1 ? "is" : "are") \(rows)"
        case .existing, .unknown: "there is no value for \(rows)"
        case .null where bars: "NULL becomes that default in \(rows)"
        case .null: "it is NULL in \(rows)"
        case .missing(let links):
            "it is missing" + (links.ended.isEmpty ? "" : ", or its object can't stay")
                + (links.keepsFirst ? ", or another row keeps its object" : "")
                + (links.ended.isEmpty && !links.keepsFirst ? "" : ",") + "\(loses) in \(rows)"
        case .ending(let links):
            "its link to \(links.ended.sorted().joined(separator: ", ")) objects can't stay in \(rows)"
        }
    }

    /// Whether the demand is about something other than a missing value.
    private var bars: Bool {
        switch cause {
        case .obligation(let obligation): obligation.property == nil
        case .unfitDefault, .misfit, .abstractTarget: true
        case .mapped: false
        }
    }

    /// What a row does that stops the run at itself, though nothing of the new store is judged.
    fileprivate var effect: String? {
        switch cause {
        case .misfit: "gives such a value"
        case .abstractTarget: "becomes such an object"
        case .obligation, .mapped, .unfitDefault: nil
        }
    }
}

extension Obligation.Change {
    fileprivate var advice: String {
        switch self {
        case .newAttribute, .tightenedAttribute: "give the attribute a default or make it optional in the model"
        case .newToOne, .tightenedToOne, .cutToOne, .sharedToOne: "make the relationship optional in the model"
        case .abstractEntity: "delete the rows"
        }
    }
}
