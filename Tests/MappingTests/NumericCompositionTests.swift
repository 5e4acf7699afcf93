import CausewayExpressions
import CausewayMapping
import CausewayModel
import Testing

/// Several changes of type in one mapping.
@Suite("Numeric conversions of several steps, fused", .timeLimit(.minutes(60)))
struct NumericCompositionTests {
    private func composed(_ versions: String...) throws -> MappingModel? {
        let steps = try zip(versions, versions.dropFirst()).enumerated().map { index, pair in
            try inferred(pair.0, pair.1, step: index)
        }
        return steps.dropFirst().reduce(steps[0] as MappingModel?) { $0?.composed(with: $1) }
    }

    private func version(_ type: String, _ name: String = "a", default value: String? = nil, optional: Bool = true)
        -> String
    {
        thing(attribute(name, type, optional: optional, default: value, was: name == "a" ? nil : "a"))
    }

    @Test("the cell is converted to every type in turn, and every step checks the result")
    func chain() throws {
        let mapping = try #require(
            try composed(version("Integer 64"), version("Integer 16", "b"), version("Double", "c")))
        let first = NumericConversion(from: .integer64, to: .integer16)
        let both = first.followed(by: NumericConversion(from: .integer16, to: .double))
        #expect(mapping.value("c") == .carried(from: "a", nilReplacement: nil, conversion: both))
        #expect(
            mapping.mapping(to: "Thing")?.conversions == [
                AttributeConversion(step: 0, entity: "Thing", attribute: "b", source: "a", conversion: first),
                AttributeConversion(step: 1, entity: "Thing", attribute: "c", source: "a", conversion: both),
            ])
        #expect(
            mapping.conversions.map { "\($0.step) \($0.attribute) \($0.conversion)" } == [
                "0 b Integer 64 → Integer 16", "1 c Integer 16 → Double",
            ])
        #expect(both.fit(of: .integer(70_000)) == nil, "the first step's matter")
        #expect(both.applied(to: .integer(7)) == .real(7))
    }

    @Test("a conversion before or after steps that only rename")
    func beside() throws {
        let conversion = NumericConversion(from: .integer32, to: .double)
        let before = try #require(
            try composed(version("Integer 32"), version("Double", "b"), version("Double", "c")))
        #expect(before.value("c") == .carried(from: "a", nilReplacement: nil, conversion: conversion))
        let after = try #require(
            try composed(version("Integer 32"), version("Integer 32", "b"), version("Double", "c")))
        #expect(after.value("c") == before.value("c"))
        #expect(
            after.conversions == [
                AttributeConversion(step: 1, entity: "Thing", attribute: "c", source: "a", conversion: conversion)
            ])
    }

    @Test("a dropped attribute's rows must fit too: the version in between can't hold others")
    func dropped() throws {
        let mapping = try #require(try composed(version("Integer 32"), version("Boolean"), thing()))
        #expect(mapping.conversions.map(\.source) == ["a"])
        let removed = try #require(try composed(version("Integer 32"), version("Boolean"), model(entity("Other"))))
        #expect(removed.mapping(from: "Thing")?.conversions.count == 1)
    }

    @Test("a default that replaces NULL or fills an added attribute is converted with the values")
    func defaults() throws {
        let replaced = try #require(
            try composed(
                version("Boolean"), version("Integer 32", default: "7", optional: false), version("Double")))
        guard case .carried("a", let replacement, _) = replaced.value("a") else {
            Issue.record("\(String(describing: replaced.value("a")))")
            return
        }
        #expect(replacement == .real(7))
        let added = try #require(
            try composed(thing(), version("Integer 32", default: "7"), version("Integer 64"), version("Double")))
        #expect(added.value("a") == .constant(.real(7)))
        #expect(added.conversions == [])
        let late = try #require(
            try composed(version("Boolean"), version("Integer 32"), version("Double", default: "0.5", optional: false)))
        guard case .carried("a", let later, _) = late.value("a") else {
            Issue.record("\(String(describing: late.value("a")))")
            return
        }
        #expect(later == .real(0.5))
    }

    @Test(
        "steps aren't fused where the next type can't hold a default, or holds it in another form",
        arguments: [
            ("Integer 32", "70000", "Integer 16"), ("Integer 32", "2", "Boolean"), ("Double", "0.5", "Integer 64"),
            ("Double", "1e300", "Float"), ("Double", "0.1", "Float"),
        ])
    func unfitDefault(from: String, value: String, to: String) throws {
        #expect(try composed(thing(), version(from, default: value), version(to)) == nil)
        #expect(
            try composed(version("Boolean"), version(from, default: value, optional: false), version(to)) == nil)
        #expect(try composed(thing(), version(from, default: "1"), version(to)) != nil)
    }

    @Test("a composed mapping gives the same rows as single ones, on random histories of types", arguments: 0..<40)
    func randomHistories(seed: Int) throws {
        var random = Generator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 7)
        for _ in 0..<20 {
            let versions = (0..<4).map { _ in Version(&random) }
            let steps = try zip(versions, versions.dropFirst()).enumerated().map { index, pair in
                try inferred(pair.0.text, pair.1.text, step: index)
            }
            let fused = try #require(steps.dropFirst().reduce(steps[0] as MappingModel?) { $0?.composed(with: $1) })
            for _ in 0..<20 {
                let row = versions[0].row(&random)
                var (state, violation) = (row as Version.Row?, Int?.none)
                for (step, version) in zip(steps, versions.dropFirst()) {
                    guard let row = state else { break }
                    violation = step.violation(of: row)
                    state = violation == nil ? step.applied(to: row, version) : nil
                }
                #expect(fused.violation(of: row) == violation)
                if violation == nil { #expect(fused.applied(to: row, versions[3]) == state) }
            }
        }
    }
}

/// A version of `Thing` with some attributes of random types. Defaults are numbers that every type holds.
private struct Version {
    typealias Row = [String: StoredNumber]

    struct Property {
        var type: NumericType
        var isOptional: Bool
        var hasDefault: Bool
    }

    /// By name.
    var properties: [String: Property] = [:]

    init(_ random: inout Generator) {
        for name in ["a", "b", "c"] where Int.random(in: 0..<6, using: &random) > 0 {
            properties[name] = Property(
                type: NumericType.allCases.randomElement(using: &random) ?? .double,
                isOptional: Bool.random(using: &random), hasDefault: Int.random(in: 0..<3, using: &random) > 0)
        }
    }

    var text: String {
        thing(
            properties.sorted { $0.key < $1.key }.map { name, property in
                attribute(
                    name, NumericRuleTests.name(property.type), optional: property.isOptional,
                    default: property.hasDefault ? (property.type == .boolean ? "YES" : "1") : nil)
            }.joined())
    }

    private static let numbers: [StoredNumber] = [
        .integer(0), .integer(1), .integer(-1), .integer(32_767), .integer(32_768), .integer(16_777_217),
        .integer(2_147_483_648), .integer(9_007_199_254_740_993), .integer(.max), .integer(.min), .real(0), .real(1),
        .real(0.5), .real(-0.0), .real(16_777_217), .real(1e30), .real(1e300), .real(.infinity), .real(0x1p63),
    ]

    func row(_ random: inout Generator) -> Row {
        var row: Row = [:]
        for (name, property) in properties.sorted(by: { $0.key < $1.key }) where Bool.random(using: &random) {
            row[name] = Self.numbers.randomElement(using: &random).map { property.type.stored($0) }
        }
        return row
    }
}

extension MappingModel {
    /// The first step in which something is wrong with a row of `Thing`.
    fileprivate func violation(of row: Version.Row) -> Int? {
        let misfits = mapping(from: "Thing")?.conversions.compactMap { change -> Int? in
            guard let number = row[change.source], case .misfit = change.conversion.fit(of: number) else { return nil }
            return change.step
        }
        let gaps = mapping(from: "Thing")?.obligations.compactMap { obligation -> Int? in
            switch obligation.demand {
            case .noRows: obligation.step
            case .noNulls(let attribute): row[attribute] == nil ? obligation.step : nil
            // These histories have no relationships.
            case .noMissing, .noEnding: nil
            }
        }
        return ((misfits ?? []) + (gaps ?? [])).min()
    }

    fileprivate func applied(to row: Version.Row, _ version: Version) -> Version.Row {
        var made: Version.Row = [:]
        for attribute in mapping(from: "Thing")?.attributes ?? [] {
            let type = version.properties[attribute.destination]?.type
            switch attribute.value {
            case .carried(let from, let replacement, let conversion):
                made[attribute.destination] =
                    row[from].map { conversion?.applied(to: $0) ?? $0 }
                    ?? replacement.flatMap { type?.stored(default: $0) }
            case .constant(let constant): made[attribute.destination] = constant.flatMap { type?.stored(default: $0) }
            case .derived: break
            }
        }
        return made
    }
}
