//! Table of the time of a run.

use std::time::Duration;

use layercake::report::timing;
use layercake::stopwatch::{RuleNames, RuleTime, Stage, StageTime, Times};

#[test]
fn table_names_the_slowest_stages_and_their_remedy() {
    let stage = |stage, passed, threads, count| StageTime {
        stage,
        passed: Duration::from_millis(passed),
        threads: Duration::from_millis(threads),
        count,
    };
    let rules = |first, others, threads| RuleTime {
        rules: RuleNames { first, others },
        threads: Duration::from_micros(threads),
    };
    let slowest = vec![
        rules("uncommon-destination", 0, 1_200_000),
        rules("plain-scalar", 4, 90_000),
        rules("a", 0, 900),
        rules("b", 0, 800),
        rules("c", 0, 700),
        rules("d", 0, 600),
        rules("e", 0, 500),
    ];
    let times = Times {
        total: Duration::from_millis(12_345),
        stages: vec![
            stage(Stage::Start, 12, 12, 0),
            stage(Stage::Parse, 333, 500, 45_057),
            stage(Stage::Rules, 12_000, 1_300, 1),
        ],
        rules: slowest,
    };
    let table = "timing: 12.3 s on 2 threads
  stage                                wall  threads  share  work
  start                             12.0 ms  12.0 ms     1%
  parse                              333 ms   500 ms    28%  45057 files
  rules                              12.0 s  1300 ms    72%  1 finding
    uncommon-destination                     1200 ms    66%
    plain-scalar and 4 more                  90.0 ms     5%
    a                                         0.9 ms     0%
    b                                         0.8 ms     0%
    c                                         0.7 ms     0%
    2 others                                  1.1 ms     0%
  all                                12.3 s  1812 ms   100%
help: skip the slowest rule with `lint --ignore uncommon-destination`
";
    assert_eq!(written(&times), table);

    let slow = |of| Times {
        stages: vec![stage(of, 300, 300, 0)],
        rules: Vec::new(),
        ..times.clone()
    };
    let help = |of| written(&slow(of)).lines().last().unwrap().to_owned();
    assert!(help(Stage::Parse).starts_with("help: most time is spent parsing: "));
    assert!(
        help(Stage::Cause).contains("tracing values"),
        "nothing was rendered for tracing"
    );
    let tried = Times {
        stages: vec![stage(Stage::Cause, 300, 300, 1)],
        ..slow(Stage::Cause)
    };
    assert!(written(&tried).contains("--verify-attribution"));
    assert!(
        help(Stage::Judge).starts_with("  all "),
        "no remedy for a user"
    );
    let short = Times {
        total: Duration::from_millis(100),
        ..slow(Stage::Parse)
    };
    assert!(
        !written(&short).contains("help: "),
        "a short stage needs no help"
    );
}

fn written(times: &Times) -> String {
    let mut out = Vec::new();
    timing::write(times, 2, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
