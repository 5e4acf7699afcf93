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
        // What is left to defaults, or can't be said in the form, is refused by name.
        guard
            let written = try BrokenPromise.unlessRefused({ () throws(MappingFileError) in
                mapping.form == .compiled ? try mapping.compiledBytes() : Array(try mapping.editorDocument().utf8)
            })
        else { return }
        let read = try BrokenPromise.unlessDone("a written mapping model isn't read") { () throws(MappingFileError) in
            try MappingModelReader.read(written, name: "fuzz")
        }
        // What wasn't understood isn't written, so it isn't there to be remarked on again.
        var (first, second) = (mapping, read)
        (first.notices, second.notices) = ([], [])
        try BrokenPromise.unless(first == second, "a mapping model written in its own form reads as another")
    }
}
