import CausewayEngine
import CausewayExamination
import CausewayPreparation
import CausewayStores
import Foundation
import Testing

@Suite("References to external files are checked before the run", .timeLimit(.minutes(60)))
struct ExternalReferenceTests {
    private static let external = "allowsExternalBinaryDataStorage=\"YES\""

    /// What can be wrong with a reference's file; rows 2 to 6 in this order.
    enum Trouble: Int, CaseIterable {
        case missing = 2, link, folder, lowerCase, tooLong
    }

    enum Form: String, CaseIterable, CustomTestStringConvertible {
        case carried, renamed, dropped, inlined, droppedLater, inlinedLater
        var testDescription: String { rawValue }
    }

    private static func name(_ key: Int, isLowerCase: Bool = false) -> String {
        let name = "0A1B2C3D-0000-4000-8000-00000000000\(key)"
        return isLowerCase ? name.lowercased() : name
    }

    /// Rows 1 to 8 refer to files: 1, 7 and 8 to good ones. Row 9 holds its data, row 10 nothing.
    private func scenario(_ form: Form, isGood: Bool = false) throws -> Scenario {
        func version(_ properties: String...) -> String {
            model(entity("Photo", properties.joined(), attribute("title")), entity("Print", parent: "Photo"))
        }
        let photo = attribute("data", "Binary", extra: Self.external)
        let inlined = attribute("data", "Binary")
        let more = attribute("more")
        let (second, third): (String, String?) =
            switch form {
            case .carried: (version(photo, more), version(photo, attribute("further")))
            case .renamed:
                (version(attribute("image", "Binary", was: "data", extra: Self.external)), nil)
            case .dropped: (version(more), version(more, attribute("further")))
            case .inlined: (version(inlined), nil)
            case .droppedLater: (version(photo, more), version(more))
            case .inlinedLater: (version(photo, more), version(inlined, more))
            }
        let values = (1...8).map { key in
            let trouble = isGood ? nil : Trouble(rawValue: key)
            let name = Self.name(key, isLowerCase: trouble == .lowerCase) + (trouble == .tooLong ? "0" : "")
            return "(\(key), \(1 + key % 2), 1, CAST(x'02' || '\(name)' || x'00' AS BLOB), 't')"
        }
        let rows = """
            INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZDATA, ZTITLE) VALUES \(values.joined(separator: ", ")), \
            (9, 1, 1, x'01AABB', 't'), (10, 1, 1, NULL, 't');
            """
        let first = version(photo)
        let scenario =
            if let third { try Scenario(first, second, third, rows: rows) } else {
                try Scenario(first, second, rows: rows)
            }
        let folder = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for key in 1...8 {
            let path = folder + "/" + Self.name(key)
            switch isGood ? nil : Trouble(rawValue: key) {
            case .missing: break
            case .link:
                try Data("elsewhere".utf8).write(to: URL(filePath: scenario.folder + "/elsewhere"))
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: scenario.folder + "/elsewhere")
            case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            default: try Data("content \(key)".utf8).write(to: URL(filePath: path))
            }
        }
        return scenario
    }

    private func request(_ scenario: Scenario, output: Bool, fuses: Bool, batchRows: Int = 100) -> MigrationRequest {
        var request = scenario.request(to: scenario.lastVersion, fuses: fuses, batchRows: batchRows)
        if output { request.output = scenario.folder + "/New.sqlite" }
        return request
    }

    private static func uri(_ key: Int) -> String {
        "x-coredata://\(Scenario.uuid)/\(key % 2 == 0 ? "Photo" : "Print")/p\(key)"
    }

    @Test(
        "a file that is missing, a link, a folder, or wrongly named stops the run before a byte is written",
        arguments: [Form.carried, .renamed, .inlined, .inlinedLater], [true, false])
    func refused(_ form: Form, output: Bool) throws {
        for fuses in [true, false] {
            let scenario = try scenario(form)
            let before = try snapshot(scenario.folder)
            let error = try failure { _ = try Migration(request(scenario, output: output, fuses: fuses)).run() }
            #expect(error.kind == .sourceData)
            #expect(error.state == .untouched)
            for trouble in Trouble.allCases {
                let details = error.details.filter {
                    $0.contains(Self.uri(trouble.rawValue) + ")") || $0.contains(Self.uri(trouble.rawValue) + ",")
                }
                #expect(details.count == 1, "\(trouble): \(error.details)")
            }
            #expect(error.details.count == 5, "\(error.details)")
            #expect(error.details.allSatisfy { $0.contains(".data ") })
            #expect(error.details.contains { $0.contains("isn't in \(scenario.folder)/.Store_SUPPORT") })
            for key in [1, 7, 8, 9, 10] {
                #expect(!error.details.contains { $0.contains("/p\(key))") || $0.contains("/p\(key),") })
            }
            #expect(error.remedy.contains("--bad-rows quarantine"))
            #expect(try snapshot(scenario.folder) == before)
            #expect(
                try failure { _ = try Migration(request(scenario, output: output, fuses: fuses)).plan() }.kind
                    == .sourceData)
        }
    }

    @Test("values that no step keeps aren't checked", arguments: [Form.dropped, .droppedLater], [true, false])
    func dropped(_ form: Form, output: Bool) throws {
        for fuses in [true, false] {
            let scenario = try scenario(form)
            let outcome = try Migration(request(scenario, output: output, fuses: fuses)).run()
            #expect(outcome.rows == 10)
            #expect(
                outcome.warnings.filter { !$0.hasPrefix("The bundle doesn't say") }.isEmpty, "\(outcome.warnings)")
        }
    }

    @Test("good files aren't reported", arguments: Form.allCases, [true, false])
    func good(_ form: Form, output: Bool) throws {
        let scenario = try scenario(form, isGood: true)
        let outcome = try Migration(request(scenario, output: output, fuses: true)).run()
        #expect(
            outcome.warnings.filter { !$0.hasPrefix("The bundle doesn't say") }.isEmpty, "\(outcome.warnings)")
        #expect(outcome.rows == 10)
    }

    @Test(
        "with --bad-rows quarantine rows are kept with their references, and written to the rejects file",
        arguments: [1, 7, 1_024], [true, false])
    func quarantined(batchRows: Int, output: Bool) throws {
        for fuses in [true, false] {
            let scenario = try scenario(.carried)
            #expect(try troubledKeys(scenario.store) == [2, 3, 4, 5, 6])
            let before = try Database.rows("SELECT Z_PK, Z_ENT, ZDATA, ZTITLE FROM ZPHOTO", in: scenario.store)
            var request = request(scenario, output: output, fuses: fuses, batchRows: batchRows)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects")
            let planned = try Migration(request).plan()
            #expect(planned.notices.count == 5, "\(planned.notices)")
            let outcome = try Migration(request).run()
            #expect(planned.notices.allSatisfy(outcome.warnings.contains))
            #expect(outcome.rows == 10)
            #expect(outcome.quarantinedRows == 0)
            let result = output ? scenario.folder + "/New.sqlite" : scenario.store
            #expect(try Database.rows("SELECT Z_PK, Z_ENT, ZDATA, ZTITLE FROM ZPHOTO", in: result) == before)
            let lines = try BadLine.read(scenario.folder + "/rejects")
            #expect(lines.map(\.key) == [2, 3, 4, 5, 6])
            #expect(lines.allSatisfy { $0.property == "data" && $0.table == "ZPHOTO" && $0.uri == Self.uri($0.key) })
            let text = try String(contentsOfFile: scenario.folder + "/rejects", encoding: .utf8)
            #expect(text.split(separator: "\n").allSatisfy { $0.contains("\"kept\":true") })
            // An examination of the result reports what one of the source reports.
            #expect(try troubledKeys(result) == [2, 3, 4, 5, 6])
        }
    }

    private func troubledKeys(_ path: String) throws -> [Int64] {
        let store = try SourceStore.reading(StoreLocation(existing: path))
        defer { store.release() }
        let report = try StoreExamination(store, history: nil, isQuick: true).run()
        return report.findings.filter { $0.kind == .externalData }.flatMap(\.keys).sorted()
    }

    @Test("a row that needs its bad file's content is left out and written down", arguments: [true, false])
    func inlined(fuses: Bool) throws {
        for form in [Form.inlined, .inlinedLater] {
            let scenario = try scenario(form)
            var request = request(scenario, output: false, fuses: fuses)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects")
            let outcome = try Migration(request).run()
            #expect(outcome.quarantinedRows == 5)
            #expect(try scenario.rows("SELECT Z_PK FROM ZPHOTO ORDER BY 1") == ["1", "7", "8", "9", "10"])
            #expect(try BadLine.read(scenario.folder + "/rejects").map(\.key) == [2, 3, 4, 5, 6])
            #expect(try !String(contentsOfFile: scenario.folder + "/rejects", encoding: .utf8).contains("kept"))
        }
    }

    @Test("content that can't replace its reference is found before the run too")
    func forms() throws {
        let scenario = try scenario(.inlined, isGood: true)
        try Scenario.execute(
            "UPDATE ZPHOTO SET ZDATA = x'0304' WHERE Z_PK = 9; UPDATE ZPHOTO SET ZDATA = 5 WHERE Z_PK = 10",
            scenario.store)
        let before = try snapshot(scenario.folder)
        let error = try failure { _ = try scenario.migrate() }
        #expect(error.details.count == 1 && error.details[0].contains("in 2 rows"), "\(error.details)")
        #expect(try snapshot(scenario.folder) == before)
    }

    @Test("many rows are counted, and the first are named")
    func many() throws {
        let scenario = try scenario(.carried, isGood: true)
        try Scenario.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2099) \
            INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZDATA) \
            SELECT i, 1, 1, CAST(x'02' || '0A1B2C3D-0000-4000-8000-00000000' || (i + 1000) || x'00' AS BLOB) FROM n;
            """, scenario.store)
        let error = try failure { _ = try scenario.migrate() }
        #expect(error.details.count == 1)
        #expect(error.details[0].contains("in 2000 rows"))
        #expect(error.details[0].contains("/p119, …"))
    }

    @Test("in any number of attributes of one table")
    func manyAttributes() throws {
        func version(_ extra: String...) -> String {
            let photos = (0..<120).map { attribute("data\($0)", "Binary", extra: Self.external) }
            return model(entity("Photo", photos.joined(), extra.joined()))
        }
        let scenario = try Scenario(
            version(), version(attribute("more")), rows: "INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);")
        #expect(try Migration(scenario.request(to: "V2")).plan().notices.isEmpty)
    }
}
