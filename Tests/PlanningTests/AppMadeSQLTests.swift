import CausewayPlanning
import Testing

/// What of an app's own statements is computed for every row.
@Suite("Statements of the app's own")
struct AppMadeSQLTests {
    @Test(
        "functions whose result can be larger than their arguments are found",
        arguments: [
            ("CREATE INDEX i ON app(length(hex(zeroblob(450000000))))", "hex"),
            ("CREATE INDEX i ON app (\"zeroblob\" (450000000))", "zeroblob"),
            ("CREATE INDEX i ON app(a) WHERE /* ( */ randomblob\n(9) IS NULL", "randomblob"),
            ("CREATE TABLE app (a TEXT, b BLOB GENERATED ALWAYS AS (zeroblob(450000000)) STORED)", "zeroblob"),
            ("CREATE TABLE app (a TEXT CHECK (length(replace(a, 'x', 'yy')) > 0))", "replace"),
            ("CREATE INDEX i ON app([printf]('%.*c', 9, 'x'))", "printf"),
            ("CREATE INDEX i ON app(a, main.hex(b))", "hex"),
        ])
    func unbounded(_ sql: String, function: String) {
        #expect(AppMadeSQL.unboundedFunction(in: sql) == function)
    }

    @Test(
        "what an ordinary app's statements say is carried",
        arguments: [
            "CREATE INDEX i ON ZPOST (ZTITLE, ZDATE)",
            "CREATE INDEX \"i (1)\" ON \"My hex\" (a COLLATE NOCASE) WHERE a IS NOT NULL AND b IN (1, 2)",
            "CREATE INDEX i ON main.hex (lower(a), coalesce(b, 'hex(1)'))",
            "CREATE UNIQUE INDEX IF NOT EXISTS i ON app(substr(trim(a), 1, 10))",
            "CREATE TABLE \"notes (old)\" (a VARCHAR(20) NOT NULL, b DECIMAL(10,5) DEFAULT (0), PRIMARY KEY (a), "
                + "UNIQUE (b), FOREIGN KEY (b) REFERENCES hex (a), CHECK (length(a) < 9 OR (b > 1)))",
            "CREATE TABLE IF NOT EXISTS hex (a TEXT -- hex(\n, b)",
        ])
    func carried(_ sql: String) {
        #expect(AppMadeSQL.unboundedFunction(in: sql) == nil)
    }
}
