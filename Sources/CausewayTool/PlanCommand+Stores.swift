import ArgumentParser
import Causeway

/// `plan` with several stores.
extension PlanCommand {
    /// Plans every store, whatever becomes of the others, and prints the plans one after the other.
    ///
    /// - Throws: the exit status of the first failure in the order given.
    func runStores(_ options: MigrationOptions) throws {
        let json = output.chosen == .json
        let stores = try StoreShares(arguments, output: options.output)
        let whole = try arguments.migrator(options)
        let first = try reportingFailure(asJSON: json) { () throws(MigrationError) in try whole.readingModels() }
        var entries: [StorePlans.Entry] = []
        for share in stores.shares {
            do throws(MigrationError) {
                let plan = try first.migrating(share.store, stores.options(share, of: whole.options)).plan()
                entries.append(StorePlans.Entry(store: share.store, exitCode: 0, plan: plan))
            } catch {
                let report = FailureReport(error, of: share.store)
                entries.append(StorePlans.Entry(store: share.store, exitCode: report.exitCode, error: report))
                StandardStream.error.writeLine(report.lines(aboutStore: true).joined(separator: "\n"))
            }
            if !json, let plan = entries.last?.plan {
                let lines =
                    output.chosen == .markdown
                    ? PlanMarkdown(plan: plan, showsSQL: sql).lines
                    : PlanText(plan: plan, showsSQL: sql, layout: .output(showsAll: all)).lines
                try printResult(entries.count > 1 ? [""] + lines : lines)
            }
        }
        let plans = StorePlans(stores: entries)
        switch output.chosen {
        case .json: try printResult([try JSONText.document(plans)])
        case .markdown: try printResult(plans.markdown)
        case .text: try printResult(plans.lines)
        }
        if plans.exitCode != 0 { throw ExitCode(plans.exitCode) }
    }
}

/// The plans of several stores.
struct StorePlans: Encodable {
    struct Entry: Encodable {
        /// As it was given.
        let store: String
        let exitCode: Int32
        var plan: MigrationPlan?
        var error: FailureReport?

        /// What will be done, in a cell.
        fileprivate var words: String {
            guard let plan else { return "can't be planned (\(exitCode))" }
            return plan.isNothingToDo ? "nothing to do" : plan.path.joined(separator: " → ")
        }

        fileprivate var disk: String {
            guard let plan, !plan.isNothingToDo else { return "" }
            return Figures.bytes(plan.diskBytes)
        }
    }

    let stores: [Entry]
    /// 0, or that of the first failure in the order given.
    let exitCode: Int32

    init(stores: [Entry]) {
        self.stores = stores
        exitCode = stores.first { $0.exitCode != 0 }?.exitCode ?? 0
    }

    /// The table at the end.
    var lines: [String] {
        var table = TextTable([("STORE", .leading), ("PLAN", .leading), ("DISK", .trailing)])
        for entry in stores { table.add(entry.store, entry.words, entry.disk) }
        return [""] + table.lines(width: TextLayout.output(showsAll: true).width)
    }

    /// The same for a pull request.
    var markdown: [String] {
        let rows = stores.map { [Markdown.code($0.store), Markdown.plain($0.words), $0.disk] }
        return ["", "# All stores", ""] + Markdown.table(["Store", "Plan", "Disk"], rows)
    }
}
