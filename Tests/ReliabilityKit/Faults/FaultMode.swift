/// A way in which the fault shim disturbs a run. The names are the shim's.
package enum FaultMode: String, CaseIterable, Sendable {
    case kill, tear
    case eio
    case eioSticky = "eio-sticky"
    case enospc
    case enospcSticky = "enospc-sticky"
    case short
    case sync
    case syncSticky = "sync-sticky"
    case openEMFILE = "open-emfile"
    case openEACCES = "open-eacces"
    case readEIO = "read-eio"

    /// Whether the shim ends the process instead of making a call fail.
    package var isDeadly: Bool { self == .kill || self == .tear }

    package var isSync: Bool { self == .sync || self == .syncSticky }

    /// Exit codes with which a run that met this fault may end (InsideCrashSafety §4.6). Success is always allowed if
    /// the store is new.
    ///
    /// 66: a file that may not be opened counts as missing, as long as no work was begun. 73: the work directory. 74:
    /// everything else. Never 65, 70 or 78, which tell the user to fix the store, the tool or the models: a disk error
    /// says nothing about them.
    package var allowedCodes: Set<Int32> {
        switch self {
        case .kill, .tear: []
        case .eio, .eioSticky, .enospc, .enospcSticky, .short, .sync, .syncSticky, .openEMFILE, .readEIO: [73, 74]
        case .openEACCES: [66, 73, 74]
        }
    }

    /// Whether a run that met the fault may end this way.
    package func allows(_ ending: ChildRun.Ending) -> Bool {
        switch ending {
        case .exited(0): true
        case .exited(let code): allowedCodes.contains(code)
        // SIGKILL
        case .signalled(let number): isDeadly && number == 9
        case .hung: false
        }
    }
}
