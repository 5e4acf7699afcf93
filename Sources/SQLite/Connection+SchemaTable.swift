internal import CausewayCSQLite

extension Connection {
    /// Lets statements change the schema table while `body` runs. SQLite reads the texts only when the database is
    /// opened again (https://www.sqlite.org/pragma.html#pragma_writable_schema).
    package func changingSchemaTable(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DEFENSIVE, name: "DEFENSIVE", to: false)
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, name: "WRITABLE_SCHEMA", to: true)
        let result: Result<Void, SQLiteError>
        do throws(SQLiteError) {
            result = .success(try body())
        } catch {
            result = .failure(error)
        }
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, name: "WRITABLE_SCHEMA", to: false)
        try unsafe Hardening.configure(handle, SQLITE_DBCONFIG_DEFENSIVE, name: "DEFENSIVE", to: true)
        try result.get()
    }
}
