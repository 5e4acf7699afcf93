// What a team's own code is written with: policies, managers, stages and objects (`CausewayObjects`), and the values
// that they read and write (`CausewayEvaluation`). They are separate layers because the engine works with them too. An
// app that imports `Causeway` need not know that: one import brings all of it.

@_exported public import CausewayEvaluation
@_exported public import CausewayObjects
