//! Claims in words, and as they are stored.

use super::*;

#[test]
fn a_claim_is_told_in_words() {
    let mut claim = Statement {
        player: "a".to_owned(),
        opponent: None,
        at: Vec::new(),
        score: Bound::Above(0.5),
        quantifier: Quantifier::Every,
        error_rate: 0.05,
    };
    assert_eq!(claim.subject(), "a");
    assert_eq!(claim.predicate(1), "score above 0.5 in its one cell");
    claim.opponent = Some("b".to_owned());
    claim.at = vec![
        ("depth".to_owned(), vec!["1".to_owned(), "2".to_owned()]),
        ("time".to_owned(), vec!["1s".to_owned()]),
    ];
    assert_eq!(claim.subject(), "a against b at depth=1, 2; time=1s");
    assert_eq!(claim.predicate(2), "score above 0.5 in every one of 2 cells");
    claim.quantifier = Quantifier::Some;
    claim.score = Bound::Below(0.45);
    assert_eq!(claim.predicate(2), "score below 0.45 in some of 2 cells");
    assert_eq!(Statement::from_definition("{}"), None);
    assert_eq!(Statement::from_definition("no"), None);
    assert_eq!(cells_of_definition("{}"), None);
    assert_eq!(cells_of_definition("{\"cells\":[[\"00\",\"nobody\"]]}"), None);
}
