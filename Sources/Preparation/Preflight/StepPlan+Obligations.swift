package import CausewayMapping
import CausewayModel
package import CausewayPlanning
import CausewayStoreFormat

extension StepPlan {
    /// `V2: Post.title`
    package func place(of obligation: Obligation) -> String {
        "\(version(ofStep: obligation.step)): \(obligation.entity)\(obligation.property.map { ".\($0)" } ?? "")"
    }

    /// The source's column of an attribute that `entity` has or inherits.
    package func sourceColumn(of path: String, of entity: String) -> String? {
        sourceModel.lineage(of: entity).lazy.compactMap {
            source.column(.attribute(entity: $0.name, path: path))?.name
        }.first
    }
}
