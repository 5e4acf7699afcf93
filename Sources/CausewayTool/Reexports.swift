// A team's own executable registers its policies, so it needs what they are written with; one import brings all of it.

@_exported public import Causeway
