// What a team's own code is written with: policies, managers, stages and objects (`CausewayObjects`), and the values
// that they read and write (`CausewayEvaluation`). They are layers of their own because the engine below works with
// them too; an app that imports `Causeway` need not know that: one import brings all of it. The same holds for what the
// engine's layers say of a store, a run and its backup, and for the choices that they take.

@_exported public import CausewayComparison
@_exported public import CausewayEngine
@_exported public import CausewayEvaluation
@_exported public import CausewayExamination
@_exported public import CausewayExport
@_exported public import CausewayObjects
@_exported public import CausewayPreparation
@_exported public import CausewayStores
