/// The parts of a URL string as `NSURL` names them (RFC 3986); percent escapes are decoded in path and host.
struct URIComponents {
    private let text: String
    private let scheme: String?
    private let authority: Substring?
    private let escapedPath: Substring
    private let query: Substring?
    private let fragment: Substring?

    init(_ text: String) {
        self.text = text
        var rest = Substring(text)
        fragment = Self.cut(&rest, at: "#")
        query = Self.cut(&rest, at: "?")
        if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/"), colon != rest.startIndex {
            scheme = String(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        } else {
            scheme = nil
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        } else {
            authority = nil
        }
        escapedPath = rest
    }

    /// Takes away the mark and what follows it.
    private static func cut(_ text: inout Substring, at mark: Character) -> Substring? {
        guard let place = text.firstIndex(of: mark) else { return nil }
        defer { text = text[..<place] }
        return text[text.index(after: place)...]
    }

    /// Nil for a key that URLs haven't got; NULL for a part that this one lacks.
    subscript(_ key: ValueKey) -> Value? {
        switch key {
        case .absoluteString, .relativeString, .description: .string(text)
        case .path: .string(path)
        case .lastPathComponent: .string(Self.lastComponent(of: path))
        case .pathExtension: .string(Self.fileExtension(of: path))
        case .scheme: scheme.map(Value.string) ?? .null
        case .query: query.map { .string(String($0)) } ?? .null
        case .fragment: fragment.map { .string(String($0)) } ?? .null
        case .host: host.map(Value.string) ?? .null
        case .port: port.map(Value.integer) ?? .null
        default: nil
        }
    }

    /// Without the slash that may end it; empty for one that isn't hierarchical (`mailto:`), as nil is for Foundation.
    private var path: String {
        let path = Self.decoded(escapedPath)
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private var hostAndPort: Substring? {
        guard let authority else { return nil }
        return authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }

    private var portMark: Substring.Index? {
        guard let hostAndPort, let colon = hostAndPort.lastIndex(of: ":"),
            !hostAndPort[colon...].contains("]")
        else { return nil }
        return colon
    }

    private var host: String? {
        guard let hostAndPort else { return nil }
        let host = Self.decoded(portMark.map { hostAndPort[..<$0] } ?? hostAndPort)
        if host.hasPrefix("["), host.hasSuffix("]") { return String(host.dropFirst().dropLast()) }
        return host.isEmpty ? nil : host
    }

    private var port: Int64? {
        guard let hostAndPort, let portMark else { return nil }
        return Int64(hostAndPort[hostAndPort.index(after: portMark)...])
    }

    /// Text that isn't UTF-8 after decoding stays as it's written.
    private static func decoded(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "%")) else { return String(text) }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
            {
                result.append(UInt8(high << 4 | low))
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self) ?? String(text)
    }

    /// `NSString.lastPathComponent`: `/` for the root.
    static func lastComponent(of path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.last.map(String.init) ?? (path.hasPrefix("/") ? "/" : "")
    }

    /// `NSString.pathExtension`: empty for a name that begins with its only dot.
    static func fileExtension(of path: String) -> String {
        let name = lastComponent(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        let suffix = name[name.index(after: dot)...]
        return suffix.contains(" ") ? "" : String(suffix)
    }
}
