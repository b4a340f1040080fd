//! Time of a run by stage: time counts once, for the stage that a thread is really in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use layercake_engine::stopwatch::{
    RuleNames, Stage, Stopwatch, add_count, rule, split, split_for, time, times,
};

const NAP: Duration = Duration::from_millis(20);

fn nap() {
    thread::sleep(NAP);
}

#[test]
fn time_counts_for_the_innermost_stage() {
    let names = RuleNames {
        first: "one",
        others: 0,
    };
    let stopwatch = Stopwatch::start();
    stopwatch.time(|| {
        time(Stage::Render, || {
            nap();
            time(Stage::Parse, || thread::sleep(NAP * 10));
            add_count(Stage::Parse, || 3);
        });
        rule(names, nap);
    });
    let times = stopwatch.times();
    let (render, parse, rules) = (
        times.of(Stage::Render),
        times.of(Stage::Parse),
        times.of(Stage::Rules),
    );
    assert!(
        render.threads >= NAP && render.threads < NAP * 10,
        "{times:?}"
    );
    assert!(parse.threads >= NAP * 10 && parse.count == 3, "{times:?}");
    assert!(rules.threads >= NAP && times.rules.len() == 1, "{times:?}");
    assert_eq!(times.rules[0].rules, names);
    assert_eq!(
        render.passed, render.threads,
        "with one thread, both times are equal"
    );
    assert!(times.threads() <= times.total, "{times:?}");
}

/// Two threads at a stage each get half of the elapsed time.
#[test]
fn threads_of_one_stage_share_the_elapsed_time() {
    let stopwatch = Stopwatch::start();
    stopwatch.time(|| {
        time(Stage::Render, || {
            let split = split();
            thread::scope(|scope| {
                for stage in [Stage::Rules, Stage::Validate] {
                    let split = &split;
                    scope.spawn(move || {
                        let _part = split.part();
                        time(stage, || thread::sleep(NAP * 5));
                    });
                }
            });
        });
    });
    let times = stopwatch.times();
    for stage in [Stage::Rules, Stage::Validate] {
        let of = times.of(stage);
        assert!(of.threads >= NAP * 5 && of.passed < of.threads, "{times:?}");
    }
    // The waiting thread spent no time.
    assert!(times.of(Stage::Render).threads < NAP * 5, "{times:?}");
    let passed: Duration = times.stages.iter().map(|it| it.passed).sum();
    assert!(passed <= times.total && passed >= NAP * 5, "{times:?}");
}

/// A waiting thread may run work of another stage, and then returns to its own.
#[test]
fn parts_count_for_the_stage_that_was_split() {
    let stopwatch = Stopwatch::start();
    stopwatch.time(|| {
        let split = split_for(Stage::Documents);
        time(Stage::Judge, || {
            let part = split.part();
            nap();
            drop(part);
            nap();
        });
        drop(split);
        nap();
    });
    let times = stopwatch.times();
    for stage in [Stage::Documents, Stage::Judge, Stage::Rest] {
        let spent = times.of(stage).threads;
        assert!(spent >= NAP && spent < NAP * 3, "{stage:?}: {times:?}");
    }
}

#[test]
fn panic_ends_its_stage() {
    let stopwatch = Stopwatch::start();
    stopwatch.time(|| {
        let panics = || time(Stage::Render, || std::panic::resume_unwind(Box::new(())));
        let outcome: Result<(), _> = catch_unwind(AssertUnwindSafe(panics));
        assert!(outcome.is_err());
        thread::sleep(NAP * 2);
    });
    let times = stopwatch.times();
    assert!(times.of(Stage::Rest).threads >= NAP * 2, "{times:?}");
    assert!(times.of(Stage::Render).threads < NAP * 2, "{times:?}");
}

#[test]
fn nothing_is_counted_without_a_stopwatch() {
    time(Stage::Render, || {
        add_count(Stage::Render, || unreachable!("no stopwatch runs"));
    });
    let split = split();
    drop(split.part());
    assert_eq!(times(), None);
    let stopwatch = Stopwatch::start();
    assert_eq!(stopwatch.time(times).map(|it| it.rules), Some(Vec::new()));
    assert_eq!(times(), None, "the run is over");
}
