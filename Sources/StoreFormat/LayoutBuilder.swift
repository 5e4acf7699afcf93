package import CausewayModel

/// Computes a layout from a model. One use: `build()`.
struct LayoutBuilder {
    let outline: LayoutModel
    let frameworkVersion: Int
    let hints: LayoutHints
    var undecidable: [OpenName] = []

    mutating func build() -> StoreLayout {
        let tables = outline.entities.indices.filter(outline.isRoot).map(table)
        let joinTables = joinTables()
        return StoreLayout(
            model: outline.model, frameworkVersion: frameworkVersion, entities: outline.entities.map(\.name),
            tables: tables, joinTables: joinTables, undecidable: undecidable, newOrderKeys: hints.newOrderKeys)
    }
}

extension StoreLayout {
    /// The layout that Core Data of the given framework version makes for the model.
    ///
    /// `width` is that of the process that makes the store: try `.bits32` where a store of framework version 754 or
    /// older differs from the 64-bit layout. Throws `unusableModel` for names that SQL can't contain, dangling
    /// references and colliding tables.
    package init(
        model: ManagedObjectModel, frameworkVersion: Int, hints: LayoutHints = LayoutHints(), width: HashWidth = .bits64
    ) throws(StoreFormatError) {
        var builder = LayoutBuilder(
            outline: try LayoutModel(model, width: width), frameworkVersion: frameworkVersion, hints: hints)
        self = builder.build()
    }
}
