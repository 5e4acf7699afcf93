package import CausewayPlanning

extension CodeCatalog {
    /// What the planner must know about an app's policies and manager.
    package init(_ code: MigrationCode) {
        self.init(
            policyNames: code.policyNames, managerSelectors: Set(code.managerType.init().functions.keys),
            hasOwnManager: code.hasOwnManager, isManagerResumable: code.managerType.isResumable,
            policy: { name in
                code.policy(named: name).map { policy in
                    Policy(
                        selectors: Set(policy.init().functions.keys), isIndependent: policy.isIndependent,
                        isResumable: policy.isResumable, createsRelationships: policy.createsRelationships)
                }
            })
    }
}
