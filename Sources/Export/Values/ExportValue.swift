/// A value as it is exported; each format has its own text of it.
enum ExportValue: Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// A real of single precision: it has fewer digits.
    case single(Float)
    /// Also dates, UUIDs, URIs and decimals.
    case text(String)
    case data([UInt8])
    /// A file of the export, by its path in the output's folder.
    case file(String)
    case link(ObjectLink)
}

/// The other end of a link.
struct ObjectLink: Hashable {
    /// Z_ENT.
    var entity: Int32
    /// Z_PK.
    var key: Int64
}
