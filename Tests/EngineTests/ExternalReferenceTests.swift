import CausewayEngine
import CausewayExamination
import CausewayObjects
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
        case carried, renamed, dropped, inlined, droppedLater, inlinedLater, mandatory, mandatoryLater
        var testDescription: String { rawValue }
    }

    private static func name(_ key: Int, isLowerCase: Bool = false) -> String {
        let name = "0A1B2C3D-0000-4000-8000-00000000000\(key)"
        return isLowerCase ? name.lowercased() : name
    }

    /// Rows 1 to 8 refer to files: 1, 7 and 8 to good ones. Rows 9 and 10 hold their data, or row 10 nothing.
    private func scenario(_ form: Form, isGood: Bool = false) throws -> Scenario {
        func version(_ properties: String...) -> String {
            model(entity("Photo", properties.joined(), attribute("title")), entity("Print", parent: "Photo"))
        }
        let photo = attribute("data", "Binary", extra: Self.external)
        let inlined = attribute("data", "Binary")
        let mandatory = attribute("data", "Binary", optional: false)
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
            case .mandatory: (version(mandatory), nil)
            case .mandatoryLater: (version(inlined), version(mandatory))
            }
        let values = (1...8).map { key in
            let trouble = isGood ? nil : Trouble(rawValue: key)
            let name = Self.name(key, isLowerCase: trouble == .lowerCase) + (trouble == .tooLong ? "0" : "")
            return "(\(key), \(1 + key % 2), 1, CAST(x'02' || '\(name)' || x'00' AS BLOB), 't')"
        }
        let rows = """
            INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZDATA, ZTITLE) VALUES \(values.joined(separator: ", ")), \
            (9, 1, 1, x'01AABB', 't'), (10, 1, 1, \([.mandatory, .mandatoryLater].contains(form) ? "x'01'" : "NULL"), 't');
            """
        let first =
            form == .mandatory
            ? version(attribute("data", "Binary", optional: false, extra: Self.external)) : version(photo)
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
        "a file that must be read stops the run before a byte is written",
        arguments: [Form.inlined, .inlinedLater, .mandatory, .mandatoryLater], [true, false])
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

    @Test("references that are carried are counted, and don't stop the run", arguments: [Form.carried, .renamed])
    func carried(_ form: Form) throws {
        for fuses in [true, false] {
            let scenario = try scenario(form)
            let column = form == .renamed ? "ZIMAGE" : "ZDATA"
            let before = try Database.rows("SELECT Z_PK, ZDATA FROM ZPHOTO ORDER BY 1", in: scenario.store)
            let planned = try Migration(request(scenario, output: false, fuses: fuses)).plan()
            #expect(planned.notices.count == 5, "\(planned.notices)")
            for trouble in Trouble.allCases {
                let uri = Self.uri(trouble.rawValue)
                #expect(planned.notices.contains { $0.contains("in 1 row (\(uri)): kept as they are") })
            }
            #expect(planned.notices.allSatisfy { $0.contains(".data ") && !$0.contains("rejects") })
            let outcome = try Migration(request(scenario, output: false, fuses: fuses)).run()
            #expect(planned.notices.allSatisfy(outcome.warnings.contains), "\(outcome.warnings)")
            #expect(outcome.rows == 10)
            #expect(try scenario.rows("SELECT Z_PK, \(column) FROM ZPHOTO ORDER BY 1") == before)
        }
    }

    @Test("an output that gets no copy of what is there, a link or a folder, is refused", arguments: [true, false])
    func withoutCopies(fuses: Bool) throws {
        let scenario = try scenario(.carried)
        let error = try failure { _ = try Migration(request(scenario, output: true, fuses: fuses)).run() }
        #expect(error.kind == .sourceData && error.state == .untouched)
        #expect(error.details.count == 2, "\(error.details)")
        #expect(error.details.allSatisfy { $0.contains("a link or a folder instead of a file") })
        for trouble in [Trouble.link, .folder] {
            let path = scenario.folder + "/.Store_SUPPORT/_EXTERNAL_DATA/" + Self.name(trouble.rawValue)
            try FileManager.default.removeItem(atPath: path)
        }
        let outcome = try Migration(request(scenario, output: true, fuses: fuses)).run()
        #expect(outcome.rows == 10)
        #expect(outcome.warnings.count { $0.contains("kept as they are") } == 4, "\(outcome.warnings)")
        #expect(try troubledKeys(scenario.folder + "/New.sqlite") == [2, 3, 4, 5, 6])
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

    @Test("an optional value whose file must be read is set aside, and its row is kept", arguments: [true, false])
    func setAside(fuses: Bool) throws {
        for form in [Form.inlined, .inlinedLater] {
            let scenario = try scenario(form)
            var request = request(scenario, output: false, fuses: fuses)
            (request.badRows, request.rejects) = (.quarantine, scenario.folder + "/rejects")
            request.verification = .full
            let planned = try Migration(request).plan()
            #expect(
                planned.notices.count { $0.contains(": NULL in the new version; written to the rejects file") } == 5)
            let outcome = try Migration(request).run()
            #expect(planned.notices.allSatisfy(outcome.warnings.contains), "\(outcome.warnings)")
            #expect(outcome.quarantinedRows == 0 && outcome.rows == 10)
            #expect(
                try scenario.rows("SELECT Z_PK FROM ZPHOTO WHERE ZDATA IS NULL ORDER BY 1")
                    == ["2", "3", "4", "5", "6", "10"])
            let lines = try BadLine.read(scenario.folder + "/rejects")
            #expect(lines.map(\.key) == [2, 3, 4, 5, 6])
            #expect(lines.allSatisfy { $0.property == "data" && !$0.reason.contains("ZDATA") })
            let text = try String(contentsOfFile: scenario.folder + "/rejects", encoding: .utf8)
            #expect(text.split(separator: "\n").allSatisfy { $0.contains("\"kept\":true") })
        }
    }

    @Test("a row that needs its bad file's content is left out and written down", arguments: [true, false])
    func inlined(fuses: Bool) throws {
        for form in [Form.mandatory, .mandatoryLater] {
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
        let notices = try Migration(scenario.request(to: "V2")).plan().notices
        #expect(notices.count == 1)
        #expect(notices.first?.contains("in 2000 rows") == true)
        #expect(notices.first?.contains("/p119, …") == true)
    }

    @Test("a mapping model carries references, and reads files in filters and expressions")
    func mapped() throws {
        let photo = attribute("data", "Binary", extra: Self.external)
        func run(@EntityMappingPartsBuilder _ parts: @escaping () -> [EntityMappingPart]) throws -> MigrationOutcome {
            let reference = "CAST(x'02' || '\(Self.name(2))' || x'00' AS BLOB)"
            let scenario = try Scenario(
                model(entity("Photo", photo)), model(entity("Photo", photo, attribute("inside", "Binary"))),
                rows: "INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZDATA) VALUES (1, 1, 1, \(reference));")
            let mapping = SwiftMappingModel(from: "V1", to: "V2") {
                TransformEntity("Photo", fillsUnmentioned: false, content: parts)
            }
            let outcome = try Migration(scenario.request(by: mapping, .auto, output: "New.sqlite")).run()
            #expect(
                try Database.rows("SELECT ZDATA FROM ZPHOTO", in: scenario.folder + "/New.sqlite")
                    == Database.rows("SELECT ZDATA FROM ZPHOTO", in: scenario.store))
            return outcome
        }
        #expect(try run { Copy("data") }.warnings.contains { $0.contains("Photo.data refers to") })
        let errors = [
            try failure {
                _ = try run {
                    Copy("data")
                    Filter("data != nil")
                }
            },
            try failure {
                _ = try run {
                    Copy("data")
                    Compute("inside", "$source.data")
                }
            },
        ]
        for error in errors { #expect(error.kind == .sourceData && error.details.count == 1, "\(error)") }
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
