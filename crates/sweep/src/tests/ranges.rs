//! Ranges, and their slow references.

use proptest::prelude::*;

use crate::{axes, parse};

fn axis_texts(values: &str) -> Vec<String> {
    let tables = format!(
        "[axes]\nx = {values}\n[players.a]\nalgorithm = \"genetic-minimax\"\ndepth = 2\n\
         crossover_rate = \"$x\"\n[players.b]\nalgorithm = \"random\""
    );
    let root = parse(&tables).unwrap();
    let axes = axes::read(&root.get("axes").unwrap().value).unwrap();
    axes[0].values.iter().map(ToString::to_string).collect()
}

#[test]
fn ranges_meet_their_end() {
    for (range, expected) in [
        ("{ from = 10, to = 50, step = 10 }", "10 20 30 40 50"),
        ("{ from = 3, to = 1, step = -1 }", "3 2 1"),
        ("{ from = 4, to = 4, step = 1 }", "4"),
        ("{ from = 0.1, to = 0.5, step = 0.1 }", "0.1 0.2 0.3 0.4 0.5"),
        ("{ from = 0, to = 1, step = 0.25 }", "0 0.25 0.5 0.75 1"),
        ("{ from = -0.2, to = 0.1, step = 0.1 }", "-0.2 -0.1 0 0.1"),
        ("{ from = \"10ms\", to = \"50ms\", step = \"20ms\" }", "10ms 30ms 50ms"),
        ("{ from = \"500ms\", to = \"2s\", step = \"0.5s\" }", "500ms 1000ms 1500ms 2000ms"),
        (
            "{ from = \"10ms\", to = \"640ms\", factor = 2 }",
            "10ms 20ms 40ms 80ms 160ms 320ms 640ms",
        ),
        ("{ from = 1, to = 1000, factor = 10 }", "1 10 100 1000"),
        ("{ from = 0.1, to = 0.8, factor = 2 }", "0.1 0.2 0.4 0.8"),
        ("{ from = 16, to = 1, factor = 0.5 }", "16 8 4 2 1"),
        ("{ from = 1, to = 3.375, factor = 1.5 }", "1 1.5 2.25 3.375"),
        ("{ from = \"1ms\", to = \"100us\", factor = 0.1 }", "1000us 100us"),
        ("{ from = 5, to = 5, factor = 2 }", "5"),
        ("{ from = 1, to = 6, count = 6 }", "1 2 3 4 5 6"),
        ("{ from = 6, to = 0, count = 3, scale = \"linear\" }", "6 3 0"),
        ("{ from = 0, to = 1, count = 3 }", "0 0.5 1"),
        ("{ from = 0, to = 1, count = 4 }", "0 0.333333333333 0.666666666667 1"),
        ("{ from = -0.2, to = 0.1, count = 4 }", "-0.2 -0.1 0 0.1"),
        ("{ from = \"10ms\", to = \"50ms\", count = 5 }", "10ms 20ms 30ms 40ms 50ms"),
        ("{ from = \"1ms\", to = \"2ms\", count = 4 }", "1000us 1333us 1667us 2000us"),
        ("{ from = 1, to = 1000, count = 4, scale = \"log\" }", "1 10 100 1000"),
        ("{ from = 0.8, to = 0.1, count = 4, scale = \"log\" }", "0.8 0.4 0.2 0.1"),
        (
            "{ from = 10, to = 1000, count = 4, scale = \"log\" }",
            "10 46.4158883361 215.443469003 1000",
        ),
        (
            "{ from = \"10ms\", to = \"640ms\", count = 7, scale = \"log\" }",
            "10ms 20ms 40ms 80ms 160ms 320ms 640ms",
        ),
        (
            "{ from = \"10ms\", to = \"100ms\", count = 3, scale = \"log\" }",
            "10000us 31623us 100000us",
        ),
    ] {
        assert_eq!(axis_texts(range).join(" "), expected, "{range}");
    }
}

proptest! {
    /// The slow reference for a range by steps: counting.
    #[test]
    fn ranges_by_steps_count(from in -50..50_i64, step in 1..9_i64, count in 0..40_i64) {
        let to = from + step * count;
        let expected: Vec<_> = (0..=count).map(|i| (from + i * step).to_string()).collect();
        let range = format!("{{ from = {from}, to = {to}, step = {step} }}");
        prop_assert_eq!(axis_texts(&range), expected);
    }

    /// A range by a count equals the one by the step, or the factor, that gives as many values.
    #[test]
    fn ranges_by_count_are_ranges_by_their_steps(
        from in -500..500_i64,
        step in prop_oneof![1..40_i64, -40..0_i64],
        places in 0..3_usize,
        count in 1..40_i64,
    ) {
        let number = |units: i64| format!("{units}e-{places}");
        let ends = format!("from = {}, to = {}", number(from), number(from + step * count));
        let by_step = format!("{{ {ends}, step = {} }}", number(step));
        let by_count = format!("{{ {ends}, count = {} }}", count + 1);
        prop_assert_eq!(axis_texts(&by_count), axis_texts(&by_step));
    }

    #[test]
    fn ranges_by_logarithmic_count_are_ranges_by_their_factors(
        from in 1..10_i64,
        factor in 2..5_i64,
        count in 1..10_u32,
    ) {
        let ends = format!("from = {from}, to = {}", from * factor.pow(count));
        let by_factor = format!("{{ {ends}, factor = {factor} }}");
        let by_count = format!("{{ {ends}, count = {}, scale = \"log\" }}", count + 1);
        prop_assert_eq!(axis_texts(&by_count), axis_texts(&by_factor));
    }
}
