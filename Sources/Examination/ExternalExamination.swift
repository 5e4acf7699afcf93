import CausewayModel
import CausewayPlatform
import CausewaySQLite
import CausewayStoreFormat
import CausewayStores

/// Values in files beside the store: checks that every reference has its file, and finds files without a reference.
struct ExternalExamination {
    let examination: StoreExamination
    let layout: StoreLayout

    func run(_ report: inout StoreExamination.Report) throws(EngineError) {
        var referenced: Set<String> = []
        var unfinished = 0
        let files = try fileNames()
        for name in layout.entities {
            guard let entity = layout.model.entities[name] else { continue }
            for attribute in entity.attributes where attribute.allowsExternalBinaryDataStorage {
                unfinished += 1
                try examination.attempt("\(name).\(attribute.name)", &report) { report throws in
                    try references(of: attribute, in: name, files, &referenced, &report.findings)
                    unfinished -= 1
                }
            }
        }
        guard let files else {
            let folder = examination.store.location.externalData
            report.notes.append(
                StoreFinding(.unreferencedFiles, "\(folder): can't be read; files without a value weren't looked for"))
            return
        }
        let stray = files.subtracting(referenced)
        guard unfinished == 0, !stray.isEmpty else { return }
        let named = stray.sorted().prefix(FoundRows.namedRows).joined(separator: ", ")
        report.notes.append(
            StoreFinding(
                .unreferencedFiles,
                """
                \(examination.store.location.externalData): no value refers to \
                \(stray.count == 1 ? "1 file" : "\(stray.count) files") (\(named)\
                \(stray.count > FoundRows.namedRows ? ", …" : ""))
                """))
    }

    /// nil if the folder can't be read: then each reference's file is checked separately.
    private func fileNames() throws(EngineError) -> Set<String>? {
        let folder = examination.store.location.externalData
        do {
            guard try Files.statusIfExists(folder)?.kind == .directory else { return [] }
            return Set(try Files.list(folder))
        } catch {
            if error.code == .permissionDenied { return nil }
            throw EngineError(error, during: folder)
        }
    }

    private func references(
        of attribute: Attribute, in entity: String, _ files: Set<String>?, _ referenced: inout Set<String>,
        _ findings: inout [StoreFinding]
    ) throws {
        guard let column = layout.column(.attribute(entity: entity, path: attribute.name)),
            let numbers = layout.numbers(ofTree: entity), let table = layout.table(of: entity)
        else { return }
        let cell = try SQLIdentifier(column.name)
        var statement = try examination.store.connection.prepare(
            """
            SELECT Z_PK, CASE WHEN length(\(cell)) <= 38 THEN \(cell) END FROM \(try SQLIdentifier(table.name)) \
            WHERE Z_ENT BETWEEN \(numbers.lowerBound) AND \(numbers.upperBound) AND \(cell) IS NOT NULL \
            AND substr(CAST(\(cell) AS BLOB), 1, 1) IS NOT x'01' ORDER BY Z_PK
            """)
        let external = ExternalValues(directory: examination.store.location.externalData)
        var troubled: [ExternalValues.Trouble: FoundRows] = [:]
        while try statement.step() {
            let key = statement.int64(at: 0)
            guard let file = statement.bytes(at: 1).flatMap({ ExternalValues.fileName(in: $0) }) else {
                troubled[.malformed, default: FoundRows()].add(key)
                continue
            }
            referenced.insert(file)
            if let trouble = try files?.contains(file) ?? true ? external.trouble(withFile: file) : .missing {
                troubled[trouble, default: FoundRows()].add(key)
            }
        }
        for trouble in [ExternalValues.Trouble.missing, .notAFile, .unreadable, .malformed] {
            guard let rows = troubled[trouble] else { continue }
            let complaint = trouble.complaint(in: external.directory)
            findings.append(StoreFinding(.externalData, entity, attribute.name, complaint, rows))
        }
    }
}
