import CausewayFuzzTargets

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The reader that CAUSEWAY_FUZZ_TARGET names.
private let target: FuzzTarget = {
    let name = unsafe getenv("CAUSEWAY_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        complain("CAUSEWAY_FUZZ_TARGET is \"\(name)\"; it must be one of \(names)")
        exit(64)
    }
    return target
}()

/// To standard error, without a buffer: the process ends right after.
private func complain(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
}

/// libFuzzer, which has `main`, calls this for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    do throws(BrokenPromise) {
        try target.run(bytes)
    } catch {
        complain("broken promise: \(error)")
        // libFuzzer takes this for a finding.
        abort()
    }
    return 0
}
