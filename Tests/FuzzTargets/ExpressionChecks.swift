import CausewayExpressions
import CausewayPlist

/// Format strings: parsed, printed, archived. Trees are compared as they print: a NaN isn't equal to itself.
enum ExpressionChecks {
    static func expression(_ bytes: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard
            let expression = try BrokenPromise.unlessRefused({ () throws(ExpressionSyntaxError) in
                try Expression(parsing: text)
            })
        else { return }
        _ = expression.predicateFormat
        let printed = expression.formatString
        let again = try BrokenPromise.unlessDone("a printed expression isn't parsed") {
            () throws(ExpressionSyntaxError) in
            try Expression(parsing: printed)
        }
        try BrokenPromise.unless(again.formatString == printed, "an expression printed twice differs")
        guard
            let archive = try archived({ (writer) throws(ExpressionArchiveError) in
                try expression.archive(into: &writer)
            })
        else { return }
        let read = try BrokenPromise.unlessDone("an archived expression isn't read") {
            () throws(ExpressionArchiveError) in
            try Expression(archive: archive, at: archive.root)
        }
        try BrokenPromise.unless(read.formatString == printed, "an archived expression reads as another")
    }

    static func predicate(_ bytes: [UInt8]) throws(BrokenPromise) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard
            let predicate = try BrokenPromise.unlessRefused({ () throws(ExpressionSyntaxError) in
                try Predicate(parsing: text)
            })
        else { return }
        _ = predicate.predicateFormat
        let printed = predicate.formatString
        let again = try BrokenPromise.unlessDone("a printed predicate isn't parsed") {
            () throws(ExpressionSyntaxError) in
            try Predicate(parsing: printed)
        }
        try BrokenPromise.unless(again.formatString == printed, "a predicate printed twice differs")
        guard
            let archive = try archived({ (writer) throws(ExpressionArchiveError) in
                try predicate.archive(into: &writer)
            })
        else { return }
        let read = try BrokenPromise.unlessDone("an archived predicate isn't read") {
            () throws(ExpressionArchiveError) in
            try Predicate(archive: archive, at: archive.root)
        }
        try BrokenPromise.unless(read.formatString == printed, "an archived predicate reads as another")
    }

    /// nil where something in it can't be archived.
    private static func archived(
        _ write: (inout KeyedArchiveWriter) throws(ExpressionArchiveError) -> KeyedArchiveWriter.Reference
    ) throws(BrokenPromise) -> KeyedArchive? {
        var writer = KeyedArchiveWriter()
        guard
            let root = try BrokenPromise.unlessRefused({ () throws(ExpressionArchiveError) in try write(&writer) })
        else { return nil }
        return try BrokenPromise.unlessDone("an archive of our own isn't one") { () throws(PropertyListError) in
            try KeyedArchive(parsing: writer.bytes(root: root))
        }
    }
}
