//! Claims in words, and as they are stored.

use spelrum_statistics::claims::Bound;

use super::*;

#[test]
fn a_claim_is_told_in_words() {
    let mut claim = Statement {
        player: "a".to_owned(),
        opponent: None,
        at: Vec::new(),
        about: About::Score(Bound::Above(0.5)),
        than: None,
        over: None,
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
    claim.about = About::Score(Bound::Below(0.45));
    assert_eq!(claim.predicate(2), "score below 0.45 in some of 2 cells");
    claim.about = About::Gain(Bound::Above(0.0));
    claim.than = Some(Than::Before("depth".to_owned()));
    assert_eq!(
        claim.predicate(1),
        "gain above 0 over that with the depth before in its one comparison"
    );
    claim.than = Some(Than::Other {
        player: Some("c".to_owned()),
        opponent: Some("d".to_owned()),
        at: vec![("depth".to_owned(), vec!["1".to_owned()])],
    });
    assert_eq!(
        claim.predicate(3),
        "gain above 0 over that of c against d at depth=1 in some of 3 comparisons"
    );
    claim.over = Some("seed".to_owned());
    let of_means = "gain above 0 over that of c against d at depth=1 in some of 3 means over seed";
    assert_eq!(claim.predicate(3), of_means);
    assert_eq!(Statement::from_definition(&canonical_json(&claim)).as_ref(), Some(&claim));
    assert_eq!(Statement::from_definition("{}"), None);
    assert_eq!(Statement::from_definition("no"), None);
    assert_eq!(cells_of_definition("{}"), None);
    assert_eq!(cells_of_definition("{\"cells\":[[\"00\",\"nobody\"]]}"), None);
}

/// As releases before equivalence and gains stored them: their hashes stay.
#[test]
fn claims_of_earlier_releases_keep_their_json() {
    for json in [
        r#"{"player":"a","opponent":"b","at":[["depth",["1","2"]]],"score":{"above":0.5},"in":"every","error_rate":0.05}"#,
        r#"{"player":"a","score":{"below":0.45},"in":"some","error_rate":0.01}"#,
    ] {
        let statement = Statement::from_definition(json).unwrap();
        assert_eq!(canonical_json(&statement), json);
        // What this release does not know is not ignored.
        let more = json.replace("\"in\"", "\"from\":1,\"in\"");
        assert_eq!(Statement::from_definition(&more), None);
    }
}
