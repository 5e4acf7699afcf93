/// How Core Data names an object for everybody outside of the store (InsideStoreFormat §1).
package enum ObjectURI {
    package static func of(_ key: Int64, _ entity: String, in storeUUID: String) -> String {
        "x-coredata://\(storeUUID)/\(entity)/p\(key)"
    }
}
