/// A value in a keyed archive, whether it was stored inline in its object's field or behind a UID.
///
/// Plain values (numbers, most strings) arrive decoded. Instances of classes arrive as references, so that sharing
/// and cycles are kept; `KeyedArchive`'s methods look inside them.
package enum ArchivedValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// Only for values above `Int64.max`.
    case unsigned(UInt64)
    case real(Double)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case string(String)
    /// An instance of a class.
    case object(KeyedArchive.Reference)
    /// An array stored inline, as the elements of `NS.objects` are.
    case list(KeyedArchive.InlineList)

    package var isNull: Bool { self == .null }
    /// The reference, when the value is an instance of a class.
    package var reference: KeyedArchive.Reference? { if case .object(let reference) = self { reference } else { nil } }
}

/// A class as an archive names it.
package struct ArchivedClass: Hashable, Sendable {
    /// `$classname`.
    package let name: String
    /// `$classes`: the class itself, then its superclasses up to the root.
    package let hierarchy: [String]

    /// Whether the class or one of its superclasses has that name.
    package func isKind(of ancestor: String) -> Bool { hierarchy.contains(ancestor) }
}

extension ArchivedClass {
    /// `hierarchy` must begin with the class itself.
    package init(_ hierarchy: [String]) {
        precondition(!hierarchy.isEmpty, "A class has a name.")
        self.init(name: hierarchy[0], hierarchy: hierarchy)
    }
}
