import CausewaySQLite

/// A stage's reference to a version of the model: what `NSManagedObjectModelReference` is.
///
/// The version is looked up among the models that the migration was given, so a reference needs no bundle:
///
/// ```swift
/// let first: ManagedObjectModelReference = "Model 2"                          // by its name
/// let second = ManagedObjectModelReference(versionChecksum: "u970Qgh…ik=")    // by its checksum
/// let third = ManagedObjectModelReference(name: "Model 3", versionChecksum: "kk8XL4…iAk=")
/// ```
///
/// A reference with both is checked: a model of that name with another checksum stops the plan, because a released
/// version was edited.
public struct ManagedObjectModelReference: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The version's name: its `.xcdatamodel` or `.mom` without the extension.
    public let name: String?
    /// `NSManagedObjectModel.versionChecksum`, as Xcode's build log and `VersionInfo.plist` give it.
    public let versionChecksum: String?

    /// Base64 of a SHA-256: 43 characters and one of padding.
    private static let checksumLength = 44

    /// A version by its name.
    ///
    /// - Parameters:
    ///   - name: the version's name.
    ///   - versionChecksum: the checksum that the model of that name must have; nil is any.
    public init(name: String, versionChecksum: String? = nil) {
        self.name = name
        self.versionChecksum = versionChecksum
    }

    /// A version by its checksum.
    ///
    /// - Parameter versionChecksum: 44 characters of base64.
    public init(versionChecksum: String) {
        name = nil
        self.versionChecksum = versionChecksum
    }

    /// A version by what the text looks like: 44 characters of base64 are a checksum, everything else is a name.
    ///
    /// - Parameter text: a name or a checksum.
    public init(_ text: String) {
        if Self.isChecksum(text) { self.init(versionChecksum: text) } else { self.init(name: text) }
    }

    /// A name or a checksum.
    ///
    /// - Parameter value: as for `init(_:)`.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    private static func isChecksum(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == checksumLength, bytes.last == UInt8(ascii: "=") else { return false }
        return bytes.dropLast().allSatisfy { $0.isLetterOrDigit || "+/".utf8.contains($0) }
    }

    /// Whether both mean the same version: by checksum if both have one, else by name.
    package func isSame(as other: ManagedObjectModelReference) -> Bool {
        if let versionChecksum, let theirs = other.versionChecksum { return versionChecksum == theirs }
        if let name, let theirs = other.name { return name == theirs }
        return false
    }
}

extension ManagedObjectModelReference: CustomStringConvertible {
    /// The reference for people: `“Model 2” (checksum …)`.
    public var description: String {
        switch (name, versionChecksum) {
        case (let name?, nil): "“\(name)”"
        case (let name?, let checksum?): "“\(name)” (checksum \(checksum))"
        case (nil, let checksum): "the version with the checksum \(checksum ?? "")"
        }
    }
}
