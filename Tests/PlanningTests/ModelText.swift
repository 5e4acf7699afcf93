// Models as Xcode writes them, in little code.

func model(_ entities: String...) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities.joined())</model>
    """
}

/// An entity; `was` is its renaming identifier, `extra` holds more XML attributes.
func entity(
    _ name: String, parent: String? = nil, was: String? = nil, extra: String = "", _ properties: String...
) -> String {
    let parent = parent.map { " parentEntity=\"\($0)\"" } ?? ""
    return "<entity name=\"\(name)\"\(parent)\(identifier(was)) \(extra)>\(properties.joined())</entity>"
}

func attribute(
    _ name: String, _ type: String = "String", optional: Bool = true, default value: String? = nil,
    was: String? = nil, extra: String = ""
) -> String {
    let value = value.map { " defaultValueString=\"\($0)\"" } ?? ""
    return """
        <attribute name="\(name)" attributeType="\(type)" optional="\(optional ? "YES" : "NO")"\(value)\
        \(identifier(was)) \(extra)/>
        """
}

func toOne(
    _ name: String, _ destination: String, inverse: String? = nil, was: String? = nil, extra: String = ""
) -> String {
    relationship(name, destination, inverse, was, "maxCount=\"1\" \(extra)")
}

func toMany(
    _ name: String, _ destination: String, inverse: String? = nil, ordered: Bool = false, was: String? = nil,
    extra: String = ""
) -> String {
    relationship(name, destination, inverse, was, "toMany=\"YES\" \(ordered ? "ordered=\"YES\"" : "") \(extra)")
}

private func relationship(
    _ name: String, _ destination: String, _ inverse: String?, _ was: String?, _ extra: String
) -> String {
    let inverse = inverse.map { " inverseName=\"\($0)\" inverseEntity=\"\(destination)\"" } ?? ""
    return """
        <relationship name="\(name)" optional="YES" deletionRule="Nullify" destinationEntity="\(destination)"\(inverse)\
        \(identifier(was)) \(extra)/>
        """
}

private func identifier(_ was: String?) -> String {
    was.map { " elementID=\"\($0)\"" } ?? ""
}
