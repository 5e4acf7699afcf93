import CausewayExpressions
import CausewayMapping
import CausewayModel
import Testing

/// Boolean, Integer 16/32/64, Float and Double are inferred into each other.
@Suite("Inferred changes of numeric types", .timeLimit(.minutes(60)))
struct NumericRuleTests {
    static func name(_ type: NumericType) -> String { type.attributeType.modelName }

    @Test("each becomes each other, and the rows must fit", arguments: NumericType.allCases, NumericType.allCases)
    func pairs(from: NumericType, to: NumericType) throws {
        let mapping = try inferred(
            thing(attribute("a", Self.name(from))), thing(attribute("b", Self.name(to), was: "a")), step: 3)
        let conversion = from == to ? nil : NumericConversion(from: from, to: to)
        #expect(mapping.value("b") == .carried(from: "a", nilReplacement: nil, conversion: conversion))
        #expect(
            mapping.mapping(to: "Thing")?.conversions
                == (conversion.map {
                    [AttributeConversion(step: 3, entity: "Thing", attribute: "b", source: "a", conversion: $0)]
                } ?? []))
        #expect(
            mapping.conversions.map(\.description)
                == (from == to ? [] : ["Thing.b: \(Self.name(from)) → \(Self.name(to))"]))
        #expect(conversion.map { $0.changesCells == (from.isReal != to.isReal) } ?? true)
    }

    @Test("an optional that becomes mandatory takes the default of its new type for NULL")
    func tightened() throws {
        let mapping = try inferred(
            thing(attribute("a", "Boolean")), thing(attribute("a", "Double", optional: false, default: "0.5")))
        #expect(
            mapping.value("a")
                == .carried(
                    from: "a", nilReplacement: .real(0.5),
                    conversion: NumericConversion(from: .boolean, to: .double)))
        let bare = try inferred(
            thing(attribute("a", "Boolean")), thing(attribute("a", "Double", optional: false)))
        #expect(bare.mapping(to: "Thing")?.obligations.count == 1 && bare.conversions.count == 1)
    }

    @Test("a composite's leaf converts as any attribute, under its path")
    func leaf() throws {
        func version(_ type: String) -> String {
            model(
                entity("Thing", #"<attribute name="place" optional="YES" attributeType="Composite" composite="P"/>"#),
                "<composite name=\"P\">\(attribute("lat", type))</composite>")
        }
        let mapping = try inferred(version("Double"), version("Float"))
        let conversion = NumericConversion(from: .double, to: .float)
        #expect(
            mapping.value("place.lat") == .carried(from: "place.lat", nilReplacement: nil, conversion: conversion))
        #expect(mapping.conversions.map(\.attribute) == ["place.lat"])
    }

    @Test("an inherited attribute is listed once, at the highest entity that has it on both sides")
    func inherited() throws {
        func version(_ type: String, low: Bool = false) -> String {
            let own = attribute("n", type)
            return model(
                entity("Base", low ? "" : own), entity("Left", parent: "Base", low ? own : ""),
                entity("Right", parent: "Base", low ? own : ""), entity("Lower", parent: "Left"))
        }
        let same = try inferred(version("Integer 32"), version("Integer 64"))
        #expect(same.conversions.map(\.entity) == ["Base"])
        #expect(same.mapping(to: "Lower")?.conversions.count == 1)
        let raised = try inferred(version("Integer 32", low: true), version("Integer 64"))
        #expect(raised.conversions.map(\.entity).sorted() == ["Left", "Right"])
    }

    @Test("a derived attribute keeps its values and converts them; a new derivation is computed")
    func derived() throws {
        func version(_ type: String, _ derivation: String) -> String {
            thing(
                attribute("n", "Integer 32"), attribute("m", "Integer 32"),
                attribute("a", type, extra: "derived=\"YES\" derivationExpression=\"\(derivation)\""))
        }
        let kept = try inferred(version("Integer 32", "n"), version("Double", "n"))
        #expect(
            kept.value("a")
                == .carried(
                    from: "a", nilReplacement: nil, conversion: NumericConversion(from: .integer32, to: .double)))
        let new = try inferred(version("Integer 32", "n"), version("Double", "m"))
        #expect(new.value("a") == .derived)
        #expect(new.conversions.isEmpty)
    }

    @Test("a table with a converted attribute doesn't count as one that only gains columns")
    func fills() throws {
        let mapping = try inferred(
            thing(attribute("n", "Integer 32")),
            thing(attribute("n", "Integer 64"), attribute("more", "Integer 16", default: "1")))
        #expect(mapping.mapping(to: "Thing")?.attribute("more")?.fillsTable == false)
    }

    @Test(
        "a type that doesn't hold all numbers of the one before is one condition for all entities with the attribute")
    func conditions() throws {
        func version(_ type: NumericType) -> String {
            model(
                entity("Base", attribute("n", Self.name(type))), entity("Left", parent: "Base"))
        }
        let widening: Set<[NumericType]> = [
            [.boolean, .integer16], [.boolean, .integer32], [.boolean, .integer64], [.boolean, .float],
            [.boolean, .double], [.integer16, .integer32], [.integer16, .integer64], [.integer16, .float],
            [.integer16, .double], [.integer32, .integer64], [.integer32, .float], [.integer32, .double],
            [.integer64, .float], [.integer64, .double], [.float, .double],
        ]
        for from in NumericType.allCases {
            for to in NumericType.allCases where to != from {
                let texts = [version(from), version(to)]
                let models = try texts.map { try ModelReader.model(source: Array($0.utf8)) }
                let found = try inferred(texts[0], texts[1]).conditions(from: models[0], to: models[1])
                let change = "\(Self.name(from)) → \(Self.name(to))"
                #expect(
                    found
                        == (widening.contains([from, to])
                            ? [] : ["if every value in the rows of Base, Left fits: Base.n is converted, \(change)"]))
            }
        }
    }
}
