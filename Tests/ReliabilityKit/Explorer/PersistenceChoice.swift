/// Which of the changes that aren't durable are on the disk after a crash: one choice for data, one for names.
///
/// Its text replays it: `d:all,n:first3`.
package struct PersistenceChoice: Hashable, Sendable, CustomStringConvertible {
    /// Positions in the list of changes that aren't durable, from 0.
    package enum Selection: Hashable, Sendable {
        case none
        case all
        case first(Int)
        case allBut(Int)
        case only(Int)
        /// Bit n stands for change n.
        case bits(UInt64)
        /// All changes before it, and a part of it; none after it.
        case part(Int, FileImagePart)
    }

    package var data: Selection
    package var names: Selection

    package init(data: Selection, names: Selection) {
        self.data = data
        self.names = names
    }

    package var description: String { "d:\(data.text),n:\(names.text)" }

    /// - Parameter text: as `description` gives it.
    /// - Throws: `HarnessError` if it isn't such a text.
    package init(text: String) throws {
        let parts = text.split(separator: ",").map(String.init)
        guard parts.count == 2, parts[0].hasPrefix("d:"), parts[1].hasPrefix("n:"),
            let data = Selection(text: String(parts[0].dropFirst(2))),
            let names = Selection(text: String(parts[1].dropFirst(2)))
        else { throw HarnessError("\(text): a choice looks like d:all,n:first3") }
        self.init(data: data, names: names)
    }
}

/// How much of a change is on the disk; the explorer's own name for it.
package enum FileImagePart: String, Hashable, Sendable, CaseIterable {
    case front, back, size
}

extension PersistenceChoice.Selection {
    var text: String {
        switch self {
        case .none: "none"
        case .all: "all"
        case .first(let count): "first\(count)"
        case .allBut(let index): "allbut\(index)"
        case .only(let index): "only\(index)"
        case .bits(let bits): "bits\(String(bits, radix: 2))"
        case .part(let index, let part): "\(part.rawValue)\(index)"
        }
    }

    init?(text: String) {
        let word = text.prefix { !$0.isNumber }
        let digits = String(text.dropFirst(word.count))
        switch word {
        case "none": self = .none
        case "all": self = .all
        case "bits":
            guard let bits = UInt64(digits, radix: 2) else { return nil }
            self = .bits(bits)
        default:
            guard let number = Int(digits) else { return nil }
            switch word {
            case "first": self = .first(number)
            case "allbut": self = .allBut(number)
            case "only": self = .only(number)
            default:
                guard let part = FileImagePart(rawValue: String(word)) else { return nil }
                self = .part(number, part)
            }
        }
    }

    /// Which part of change `index` is on the disk; nil is none.
    func part(of index: Int) -> FileImage.Part? {
        switch self {
        case .none: nil
        case .all: .whole
        case .first(let count): index < count ? .whole : nil
        case .allBut(let other): index == other ? nil : .whole
        case .only(let other): index == other ? .whole : nil
        case .bits(let bits): index < 64 && bits >> UInt64(index) & 1 == 1 ? .whole : nil
        case .part(let other, let part):
            if index < other {
                .whole
            } else if index > other {
                nil
            } else {
                switch part {
                case .front: .front
                case .back: .back
                case .size: .size
                }
            }
        }
    }
}

/// The choices that are tried at a crash point.
struct ChoiceFamily {
    /// Changes of one kind that are tried one by one, at most; if there are more, an even selection is tried.
    private static let limit = 24
    /// In the exhaustive mode, so many changes have all their subsets tried: 2^10 and 2^6 subsets.
    private static let allNames = 10
    private static let allData = 6
    /// Pairs of both that are tried at one crash point.
    private static let allPairs = 4_096

    let data: [DiskModel.DataChange]
    let nameCount: Int

    init(_ model: DiskModel) {
        data = model.data
        nameCount = model.names.count
    }

    /// The choices that are new at a crash point whose last operation was `last`. Those without it were tried at the
    /// previous point.
    func choices(after last: TraceOperation.Kind?) -> [PersistenceChoice] {
        switch last {
        case .write, .truncate, .cut, .allocate:
            combine(dataChoices(includingLast: true), [.all, .none])
                + combine([.all], nameChoices(includingLast: false))
        case .create, .rename, .link, .unlink, .makeDirectory, .removeDirectory:
            combine([.all, .none], nameChoices(includingLast: true))
                + combine(dataChoices(includingLast: false), [.all])
        case .sync, .changeMode, .changeOwner, .setAttribute, .output: []
        case nil:
            combine(dataChoices(includingLast: false), [.all, .none])
                + combine([.all, .none], nameChoices(includingLast: false))
        }
    }

    /// Every subset of the names, every subset of the data, and every pair of these, up to the limits.
    func exhaustive() -> [PersistenceChoice] {
        let names = nameCount <= Self.allNames ? Self.subsets(nameCount) : nameChoices(includingLast: false)
        var ofData = dataChoices(includingLast: false)
        if data.count <= Self.allData { ofData += Self.subsets(data.count) }
        guard names.count * ofData.count > Self.allPairs else { return combine(ofData, names) }
        return combine(ofData, [.all, .none]) + combine([.all, .none], names)
            + combine(ofData, nameChoices(includingLast: false))
    }

    private func combine(
        _ data: [PersistenceChoice.Selection], _ names: [PersistenceChoice.Selection]
    ) -> [PersistenceChoice] {
        data.flatMap { data in names.map { PersistenceChoice(data: data, names: $0) } }
    }

    private static func subsets(_ count: Int) -> [PersistenceChoice.Selection] {
        (0..<(UInt64(1) << UInt64(count))).map { .bits($0) }
    }

    private func nameChoices(includingLast: Bool) -> [PersistenceChoice.Selection] {
        Self.choices(nameCount, includingLast)
    }

    private func dataChoices(includingLast: Bool) -> [PersistenceChoice.Selection] {
        var result = Self.choices(data.count, includingLast)
        let torn = includingLast ? Self.spread((data.count - 1)..<data.count) : Self.spread(0..<data.count)
        for index in torn where index >= 0 {
            guard case .write = data[index].kind else { continue }
            result.append(.part(index, .size))
            guard FileImage.canTear(data[index].kind) else { continue }
            result += [.part(index, .front), .part(index, .back)]
        }
        return result
    }

    private static func choices(_ count: Int, _ includingLast: Bool) -> [PersistenceChoice.Selection] {
        guard count > 0 else { return [.all] }
        var result: [PersistenceChoice.Selection] = [.all, .only(count - 1)]
        result += spread(0..<(count - 1)).map { .allBut($0) }
        if !includingLast {
            result += [.none, .allBut(count - 1)]
            result += spread(1..<count).map { .first($0) }
            result += spread(0..<(count - 1)).map { .only($0) }
        }
        return result
    }

    private static func spread(_ range: Range<Int>) -> [Int] {
        guard range.count > limit else { return Array(range) }
        return (0..<limit).map { range.lowerBound + $0 * range.count / limit }
    }
}
