import CausewayMapping
import CausewayMappingFiles

/// Readers of mapping models, both forms.
enum MappingChecks {
    static func run(_ bytes: [UInt8]) throws(BrokenPromise) {
        guard
            let mapping = try BrokenPromise.unlessRefused({ () throws(MappingFileError) in
                try MappingModelReader.read(bytes, name: "fuzz")
            })
        else { return }
        _ = mapping.lines()
        // What still relies on defaults, or has no place in the form, is refused by name.
        guard
            let written = try BrokenPromise.unlessRefused({ () throws(MappingFileError) in
                mapping.form == .compiled ? try mapping.compiledBytes() : Array(try mapping.editorDocument().utf8)
            })
        else { return }
        let read = try BrokenPromise.unlessDone("a written mapping model isn't read") { () throws(MappingFileError) in
            try MappingModelReader.read(written, name: "fuzz")
        }
        // What the reader didn't understand isn't written, so the second reading has no notice of it.
        var (first, second) = (mapping, read)
        (first.notices, second.notices) = ([], [])
        try BrokenPromise.unless(first == second, "a mapping model written in its own form reads as another")
    }
}
