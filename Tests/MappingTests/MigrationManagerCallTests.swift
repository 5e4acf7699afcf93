import CausewayExpressions
import CausewayMapping
import Testing

@Suite("Look-ups through the migration manager", .timeLimit(.minutes(60)))
struct MigrationManagerCallTests {
    @Test(
        "are found anywhere in an expression; a fetch of source rows isn't one",
        arguments: [
            ("$source.name", false),
            ("FUNCTION($source, 'uppercase:', 'x')", false),
            ("FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'A', $source.b)", true),
            ("SUBQUERY($source.b, $x, $x IN FUNCTION($manager, 'own:', $x)).@count", true),
            ("TERNARY($source.a > 1, FUNCTION($manager, 'own:', $source), nil)", true),
            (
                "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'A', 'TRUEPREDICATE'), "
                    + "$manager.sourceContext, NO)", false
            ),
            (
                "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'A', "
                    + "FUNCTION($manager, 'own:', $source)), $manager.sourceContext, NO)", true
            ),
        ])
    func calls(text: String, expected: Bool) throws {
        #expect(try Expression(parsing: text).callsManager == expected)
    }
}
