import CausewaySQLite
import CausewaySQLiteFile
package import CausewayStoreFormat

/// The pages of one table or index.
package struct ObjectSize: Hashable, Sendable {
    package var object: StoreSchema.Object
    package var pages: Int
    /// Bytes of these pages.
    package var bytes: Int
}

extension SourceStore {
    /// The sizes of all tables and indexes, that of the schema itself included, the largest first. Reads every page of
    /// the store once.
    ///
    /// SQLite's own `dbstat` answers where this SQLite has it; else the pages are counted here.
    ///
    /// - Returns: the sizes, or why they aren't known: what each of the two ways says.
    package func objectSizes() -> Result<[ObjectSize], SizesUnknown> {
        let objects =
            [.schemaTable]
            + schema.objects.filter { ($0.kind == .table || $0.kind == .index) && $0.rootPage > 0 }
        let pages: [String: Int]
        do throws(SQLiteError) {
            pages = try pagesByStatistics()
        } catch {
            do {
                pages = try pagesByReading(objects)
            } catch let other {
                return .failure(SizesUnknown(statistics: error.message, reading: "\(other)"))
            }
        }
        let size = Int(pageSize)
        return .success(
            objects.compactMap { object in
                pages[object.name].map { ObjectSize(object: object, pages: $0, bytes: $0 * size) }
            }
            .sorted { ($1.bytes, $0.object.name) < ($0.bytes, $1.object.name) })
    }

    /// Pages of the pointer maps, which no table or index has (https://www.sqlite.org/fileformat2.html#ptrmap).
    package func pointerMapPages(of pages: Int) -> Int {
        PageNumbering(pageSize: Int(pageSize), isAutoVacuum: autoVacuum != 0).mapPageCount(ofFirst: pages)
    }

    /// Each tree as one row, without sorting its pages (https://www.sqlite.org/dbstat.html).
    private func pagesByStatistics() throws(SQLiteError) -> [String: Int] {
        var statement = try connection.prepare("SELECT name, pageno FROM dbstat WHERE aggregate = TRUE")
        var pages: [String: Int] = [:]
        while try statement.step() {
            guard var name = try statement.string(at: 0) else { continue }
            // Its name before SQLite 3.33.
            if name == "sqlite_master" { name = StoreSchema.Object.schemaTable.name }
            pages[name] = Int(clamping: statement.int64(at: 1))
        }
        return pages
    }

    /// The same without `dbstat`.
    ///
    /// - Throws: where a page can't be read.
    package func pagesByReading(_ objects: [StoreSchema.Object]) throws -> [String: Int] {
        let file = try pageFile()
        var pages: [String: Int] = [:]
        for object in objects {
            // One after another: what is claimed beforehand is another tree's.
            let claims = PageClaims(pageCount: file.layout.pageCount)
            try file.claim(TreeRoot(object, in: schema), claims)
            pages[object.name] = claims.pageCount
        }
        return pages
    }
}

/// Why nobody can say how large tables and indexes are.
package struct SizesUnknown: Error, CustomStringConvertible {
    let statistics: String
    let reading: String

    package var description: String { "\(reading); SQLite's dbstat: \(statistics)" }
}
