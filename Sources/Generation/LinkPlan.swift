import CausewayModel
import CausewayStoreFormat

/// A to-one (or the virtual to-one of a to-many without inverse) with the rule for its targets.
struct ToOneLink {
    let children: Population
    let targets: Population
    let formula: ToOneFormula
    /// Rows without target, of 256.
    let missing: Int
    let stream: UInt64

    /// Z_PK and Z_ENT of the target, and the row's rank among the rows of that target.
    func target(of child: Int) -> (key: Int, number: Int, rank: Int)? {
        guard !RandomStream.chance(stream, child, outOf256: missing), let place = formula.target(of: child) else {
            return nil
        }
        let row = targets.row(at: place.index)
        return (row.key, row.number, place.rank)
    }
}

/// Chooses the rule of every relationship by its cardinality and that of its inverse.
struct LinkPlan {
    /// Of 256 optional to-ones, those that are NULL; of virtual to-ones, of one-to-ones.
    private static let missingToOnes = 26
    private static let missingVirtual = 77
    private static let missingPairs = 31
    private static let treeFanOut = 3

    let layout: StoreLayout
    let keySpaces: [String: KeySpace]
    let uniqueRoles: Set<ColumnRole>
    let seed: UInt64
    private var model: ManagedObjectModel { layout.model }

    func population(of entity: String) -> Population? {
        guard let keys = keySpaces[model.root(of: entity)] else { return nil }
        return Population(keys: keys) { model.isKind($0, of: entity) }
    }

    private func stream(_ entity: String, _ relationship: String) -> UInt64 {
        RandomStream.stream(seed: seed, "link " + entity + "." + relationship)
    }

    // MARK: - To-one

    /// nil where no row has a target: then the column stays NULL.
    func toOne(_ relationship: Relationship, of entity: String) -> ToOneLink? {
        guard let children = population(of: entity), let targets = population(of: relationship.destination),
            children.count > 0, targets.count > 0
        else { return nil }
        let stream = stream(entity, relationship.name)
        let inverse = model.mutualInverse(of: relationship, declaredBy: entity)
        var missing = relationship.isOptional ? LinkPlan.missingToOnes : 0
        let formula: ToOneFormula
        if let inverse, !inverse.relationship.isToMany {
            formula = .paired(pairing(relationship, of: entity, with: inverse, children, targets))
            missing = 0
        } else if uniqueRoles.contains(.toOne(entity: entity, relationship: relationship.name)) {
            formula = .injective(targets: targets.count)
        } else if let inverse {
            let bounds = LinkPlan.bounds(of: inverse.relationship)
            (formula, missing) = owned(
                children, targets, bounds: bounds, missing: missing, rootHasItself: !relationship.isOptional)
        } else {
            formula = .popular(targets: targets.count, stream: stream &+ 1)
        }
        return ToOneLink(children: children, targets: targets, formula: formula, missing: missing, stream: stream)
    }

    /// The column that a to-many without inverse has in its destination's table.
    func virtualToOne(_ relationship: Relationship, of owner: String) -> ToOneLink? {
        guard let children = population(of: relationship.destination), let targets = population(of: owner),
            children.count > 0, targets.count > 0
        else { return nil }
        let (formula, missing) = owned(
            children, targets, bounds: LinkPlan.bounds(of: relationship), missing: LinkPlan.missingVirtual,
            rootHasItself: false)
        return ToOneLink(
            children: children, targets: targets, formula: formula, missing: missing,
            stream: stream(owner, relationship.name))
    }

    private func owned(
        _ children: Population, _ owners: Population, bounds: JoinFormula.Bounds, missing: Int, rootHasItself: Bool
    ) -> (ToOneFormula, missing: Int) {
        let limit = bounds.most > 0 ? min(children.count, owners.count * bounds.most) : children.count
        if bounds.least > 0 || bounds.most > 0 {
            // What is left out at random could be an owner's last child.
            let even = ToOneFormula.even(children: limit, owners: owners.count, limit: limit)
            return (even, bounds.least > 0 ? 0 : missing)
        }
        if children.isSame(as: owners) {
            return (.tree(fanOut: LinkPlan.treeFanOut, rootHasItself: rootHasItself), missing)
        }
        return (.spread(Spread(children: children.count, owners: owners.count)), missing)
    }

    private func pairing(
        _ relationship: Relationship, of entity: String, with inverse: (owner: String, relationship: Relationship),
        _ rows: Population, _ others: Population
    ) -> Pairing {
        let isSelf = inverse.owner == entity && inverse.relationship.name == relationship.name
        let numbers = layout.entityNumbers
        let isForward =
            (numbers[entity] ?? 0, relationship.name) <= (numbers[inverse.owner] ?? 0, inverse.relationship.name)
        let first = isForward ? stream(entity, relationship.name) : stream(inverse.owner, inverse.relationship.name)
        let isMandatory = !relationship.isOptional || !inverse.relationship.isOptional
        let form: Pairing.Form
        if isSelf {
            form = .mutual(count: rows.count)
        } else if rows.isSame(as: others) {
            form = .chain(count: rows.count, isClosed: isMandatory, isForward: isForward)
        } else {
            let pairs = min(rows.count, others.count)
            var random = RandomStream(stream: first, key: -1)
            form = .shifted(by: random.next(below: pairs), pairs: pairs, isForward: isForward)
        }
        return Pairing(form: form, missing: isMandatory ? 0 : LinkPlan.missingPairs, stream: first &+ 1)
    }

    // MARK: - Many-to-many

    func join(_ table: JoinTable) -> JoinLink? {
        guard let named = relationship(table.relationship, declaredBy: table.owner),
            let inverse = relationship(table.inverse, declaredBy: table.inverseOwner),
            let owners = population(of: inverse.destination), let partners = population(of: named.destination)
        else { return nil }
        let formula = JoinFormula(
            owners: owners.count, partners: partners.count, isReflexive: table.isReflexive,
            isSamePopulation: owners.isSame(as: partners), bounds: LinkPlan.bounds(of: named),
            inverseBounds: LinkPlan.bounds(of: inverse), stream: stream(table.owner, table.relationship))
        return JoinLink(owners: owners, partners: partners, formula: formula)
    }

    func relationship(_ name: String, declaredBy entity: String) -> Relationship? {
        model.entities[entity]?.relationships.first { $0.name == name }
    }

    /// A to-many that isn't optional needs one object at least, whatever its minimum says.
    static func bounds(of toMany: Relationship) -> JoinFormula.Bounds {
        let least = max(toMany.minCount, toMany.isOptional ? 0 : 1)
        return JoinFormula.Bounds(least: least, most: toMany.maxCount)
    }
}

/// The rows of a join table.
struct JoinLink {
    let owners: Population
    let partners: Population
    let formula: JoinFormula
}

extension ManagedObjectModel {
    /// The inverse, where it points back; one that doesn't is none for the rows.
    func mutualInverse(
        of relationship: Relationship, declaredBy entity: String
    ) -> (owner: String, relationship: Relationship)? {
        guard let inverse = inverse(of: relationship), !inverse.relationship.isTransient,
            let back = self.inverse(of: inverse.relationship), back.relationship.name == relationship.name,
            back.owner == entity
        else { return nil }
        return inverse
    }
}
