import CausewayModel

/// The mapping-model expression for a conversion that can't be inferred, for the message that refuses a change of type.
enum ConvertingExpression {
    /// - Parameters:
    ///   - path: the source's attribute.
    ///   - old: its type.
    ///   - new: the destination's.
    /// - Returns: nil where the language has no such conversion.
    static func text(_ path: String, from old: AttributeType, to new: AttributeType) -> String? {
        let value = "$source.\(path)"
        switch (old, new) {
        case (.date, .decimal): return cast(cast(value, "NSNumber"), "NSDecimalNumber")
        // Neither a date nor a decimal is a truth value.
        case (.date, .boolean), (.decimal, .boolean): return nil
        case (.string, .decimal): return cast(value, "NSDecimalNumber")
        case (.decimal, .date): return cast(value, "NSDate")
        case (.decimal, .string), (.date, .string), (.uuid, .string), (.uri, .string): return cast(value, "NSString")
        case _ where NumericType(new) != nil && [.decimal, .string, .date].contains(old):
            return cast(value, "NSNumber")
        case (_, .decimal) where NumericType(old) != nil: return cast(value, "NSDecimalNumber")
        case (_, .date) where NumericType(old) != nil: return cast(value, "NSDate")
        case (_, .string) where NumericType(old) != nil: return cast(value, "NSString")
        case (.string, .uuid): return cast(value, "NSUUID")
        case (.string, .uri): return cast(value, "NSURL")
        default: return nil
        }
    }

    private static func cast(_ value: String, _ type: String) -> String { "CAST(\(value), \"\(type)\")" }
}
