/// Checks a document before the parser sees it: encoding, declarations, and the size of tags.
///
/// libxml2 would expand entities and compare attributes pairwise; input that could cause this is refused here.
struct XMLScanner {
    private var bytes: [UInt8]
    private var position = 0
    private var hasDoctype = false
    private var hasElement = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The document with its allowed document type declaration blanked, lines and columns kept.
    mutating func screen(doctype: XMLTree.DoctypePolicy) throws(XMLError) -> [UInt8] {
        guard bytes.count <= XMLLimits.documentSize else {
            throw XMLError(
                .limitExceeded, "The document has \(bytes.count) bytes; at most \(XMLLimits.documentSize) are read.")
        }
        guard !bytes.isEmpty else { throw XMLError(.malformed, "The document is empty.") }
        try checkEncoding()
        while let markup = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = markup
            try passMarkup(doctype: doctype)
        }
        return bytes
    }

    private mutating func passMarkup(doctype: XMLTree.DoctypePolicy) throws(XMLError) {
        if follows("<!--") {
            try pass("<!--", until: "-->")
        } else if follows("<![CDATA[") {
            try pass("<![CDATA[", until: "]]>")
        } else if follows("<?") {
            try passInstruction()
        } else if follows("<!DOCTYPE") {
            try passDoctype(doctype)
        } else if follows("<!") {
            throw error(.forbiddenDeclaration, "The document declares something outside a document type.")
        } else if follows("<<<<<<<") {
            throw error(.malformed, "The document has the marks of a merge conflict (<<<<<<<); resolve the conflict.")
        } else {
            hasElement = true
            try passTag()
        }
    }

    // MARK: - Encoding

    private mutating func checkEncoding() throws(XMLError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let isWide = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
        // UTF-16 and UTF-32 without a mark: markup has zeros between its letters.
        if let zero = bytes.firstIndex(of: 0), !isWide {
            position = zero
            throw error(.unsupportedEncoding, "The document holds a zero byte; save it in UTF-8.")
        }
        guard !isWide, String(validating: bytes, as: UTF8.self) != nil else {
            throw XMLError(.unsupportedEncoding, "The document is not in UTF-8; save it in UTF-8.")
        }
        guard follows("<?xml"), let end = find("?>", from: position) else { return }
        guard let encoding = declaredEncoding(in: bytes[position..<end]) else { return }
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
            throw error(.unsupportedEncoding, "The document declares the encoding “\(encoding)”; save it in UTF-8.")
        }
    }

    /// The value of `encoding="…"`; an empty text when the declaration can't be understood.
    private func declaredEncoding(in declaration: ArraySlice<UInt8>) -> String? {
        guard let name = find("encoding", from: declaration.startIndex), name < declaration.endIndex else { return nil }
        let rest = declaration[(name + 8)...].drop { Self.isSpace($0) || $0 == UInt8(ascii: "=") }
        guard let quote = rest.first, Self.isQuote(quote), let end = rest.dropFirst().firstIndex(of: quote) else {
            return ""
        }
        return String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
    }

    // MARK: - Document type

    /// `<!DOCTYPE name SYSTEM "…">` or `<!DOCTYPE name PUBLIC "…" "…">`, once and before the root element.
    private mutating func passDoctype(_ policy: XMLTree.DoctypePolicy) throws(XMLError) {
        guard policy == .allowExternalIdentifierOnly else {
            throw error(.forbiddenDeclaration, "The document has a document type; remove the DOCTYPE declaration.")
        }
        guard !hasDoctype, !hasElement else {
            throw error(.forbiddenDeclaration, "The document has a second or misplaced document type.")
        }
        hasDoctype = true
        var cursor = position + "<!DOCTYPE".utf8.count
        var words: [ArraySlice<UInt8>] = []
        while cursor < bytes.count, bytes[cursor] != UInt8(ascii: ">"), words.count <= 4 {
            let byte = bytes[cursor]
            if Self.isSpace(byte) {
                cursor += 1
                continue
            }
            let end: Int?
            if Self.isQuote(byte) {
                end = bytes[(cursor + 1)...].firstIndex(of: byte).map { $0 + 1 }
            } else {
                end = bytes[cursor...].firstIndex { Self.isSpace($0) || Self.isQuote($0) || Self.endsWord($0) }
            }
            guard let end, end > cursor else { throw forbiddenDoctype() }
            words.append(bytes[cursor..<end])
            cursor = end
        }
        guard cursor < bytes.count, bytes[cursor] == UInt8(ascii: ">"), Self.isExternalIdentifier(words) else {
            throw forbiddenDoctype()
        }
        blank(position..<cursor + 1)
        position = cursor + 1
    }

    private static func isExternalIdentifier(_ words: [ArraySlice<UInt8>]) -> Bool {
        let isLiteral = words.map { $0.first.map(isQuote) ?? false }
        switch words.count {
        case 3: return words[1].elementsEqual("SYSTEM".utf8) && isLiteral == [false, false, true]
        case 4: return words[1].elementsEqual("PUBLIC".utf8) && isLiteral == [false, false, true, true]
        default: return false
        }
    }

    private func forbiddenDoctype() -> XMLError {
        error(
            .forbiddenDeclaration,
            "The document type is more than the name of an external file; remove the DOCTYPE declaration.")
    }

    /// Hides a range from the parser; lines and columns are kept.
    private mutating func blank(_ range: Range<Int>) {
        for index in range where bytes[index] != UInt8(ascii: "\n") && bytes[index] != UInt8(ascii: "\r") {
            bytes[index] = UInt8(ascii: " ")
        }
    }

    // MARK: - Processing instructions

    /// The parser reads the XML declaration. Instructions mean nothing to us, and FoundationXML on Linux traps at one
    /// without data (`<?a?>`), so the parser never sees them.
    private mutating func passInstruction() throws(XMLError) {
        let start = position
        let isFirst = start == 0 || (start == 3 && bytes[0] == 0xEF)
        try pass("<?", until: "?>")
        let target = bytes[(start + 2)..<(position - 2)].prefix { !Self.isSpace($0) }
        guard let first = target.first, first >= 0x80 || Self.isNameStart(first) else {
            throw error(.malformed, "A processing instruction has no name.")
        }
        guard target.count == 3, String(decoding: target, as: UTF8.self).lowercased() == "xml" else {
            // Spaces inside an element would become text.
            guard !hasElement else {
                throw error(.forbiddenDeclaration, "There is a processing instruction among the elements; remove it.")
            }
            return blank(start..<position)
        }
        // Without data, it isn't the declaration either.
        guard isFirst, start + 2 + target.count < position - 2 else {
            throw error(.malformed, "The XML declaration is empty or not at the document's beginning.")
        }
    }

    private static func isNameStart(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: ":")
    }

    // MARK: - Tags and sections

    private mutating func passTag() throws(XMLError) {
        var cursor = position + 1
        var equalSigns = 0
        while cursor < bytes.count {
            let byte = bytes[cursor]
            if byte == UInt8(ascii: ">") {
                position = cursor + 1
                return
            }
            if byte == UInt8(ascii: "=") {
                equalSigns += 1
                guard equalSigns <= XMLLimits.attributesPerElement else {
                    throw error(
                        .limitExceeded, "An element has more than \(XMLLimits.attributesPerElement) attributes.")
                }
            }
            if Self.isQuote(byte) {
                guard let end = bytes[(cursor + 1)...].firstIndex(of: byte) else {
                    throw error(.malformed, "An attribute's value doesn't end.")
                }
                guard end - cursor - 1 <= XMLLimits.attributeSize else {
                    throw error(
                        .limitExceeded, "An attribute's value has more than \(XMLLimits.attributeSize) bytes.")
                }
                cursor = end
            }
            cursor += 1
        }
        throw error(.malformed, "A tag doesn't end.")
    }

    private mutating func pass(_ opening: String, until closing: String) throws(XMLError) {
        guard let end = find(closing, from: position + opening.utf8.count) else {
            throw error(.malformed, "“\(opening)” isn't closed with “\(closing)”.")
        }
        position = end + closing.utf8.count
    }

    // MARK: - Bytes

    private func follows(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private func find(_ text: String, from start: Int) -> Int? {
        guard let first = text.utf8.first else { return nil }
        var cursor = start
        while cursor < bytes.count, let hit = bytes[cursor...].firstIndex(of: first) {
            if bytes[hit...].starts(with: text.utf8) { return hit }
            cursor = hit + 1
        }
        return nil
    }

    private func error(_ code: XMLError.Code, _ message: String) -> XMLError {
        let before = bytes[..<min(position, bytes.count)]
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return XMLError(code, message, line: line, column: before.count - lineStart + 1)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    /// Whether the byte ends a name or keyword of a document type.
    private static func endsWord(_ byte: UInt8) -> Bool { "><[".utf8.contains(byte) }
}
