package import CausewayPlanning

extension CodeCatalog {
    /// What the planner must know about an app's policies and manager.
    package init(_ code: MigrationCode) {
        self.init(
            managerSelectors: Set(code.managerType.init().functions.keys), policyNames: code.policyNames,
            hasOwnManager: code.hasOwnManager,
            policySelectors: { name in code.policy(named: name).map { Set($0.init().functions.keys) } })
    }
}
