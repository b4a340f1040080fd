//! A short soak test: random edits of the examples, each rendered completely and compared, with
//! equal results. The long one is `benches/soak`, whose code is used here.

#[expect(dead_code, reason = "the bench counts and names what a test does not")]
#[path = "../../benches/soak/walk/mod.rs"]
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use layercake::check::Settings;
use layercake::merge::deckhand::Semantics;

use walk::engine::{Listing, Manner, Rules, see, see_both};
use walk::program::Program;
use walk::{Course, Files, Walk, laws};

/// The files of one of the examples.
fn example(name: &str) -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name);
    let mut files = Files::new();
    add(&root, &root, &mut files);
    files
}

fn add(root: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(root, &path, files);
        } else {
            let inside = path.strip_prefix(root).unwrap().to_str().unwrap();
            files.insert(inside.into(), fs::read_to_string(&path).unwrap().into());
        }
    }
}

/// Walks over an example, and returns the number of changed outputs.
fn walk(name: &str, edits: usize) -> usize {
    let course = Course {
        seed: 7,
        rules: Rules::All,
        again_every: 8,
        program_every: 12,
    };
    let program = Program {
        path: PathBuf::from(env!("CARGO_BIN_EXE_layercake")),
    };
    let mut walk = Walk::new(example(name), course, program).unwrap();
    let mut changed = 0;
    for _ in 0..edits {
        let stepped = walk.step().unwrap();
        let wrong = stepped.wrong.join("\n");
        assert!(
            stepped.wrong.is_empty(),
            "edit {} {:?}: {wrong}",
            stepped.number,
            stepped.did
        );
        changed += stepped.changed.values().sum::<usize>();
    }
    changed
}

#[test]
fn edits_of_the_sites_agree() {
    assert!(walk("sites", 25) > 20, "the edits change outputs");
}

#[test]
fn edits_of_cloud_config_agree() {
    assert!(walk("cloud-init", 15) > 0, "the edits change outputs");
}

/// A soak test that accepts everything would prove nothing.
#[test]
fn disagreement_is_detected() {
    let manner = Manner {
        semantics: Semantics::Documented,
        rules: Rules::Usual,
        listing: Listing::Sorted,
    };
    let base = example("sites");
    let mut head = base.clone();
    let path = "global/charts/horizon.yaml";
    let text = base[path].replace("namespace: ", "namespace: other-");
    assert_ne!(*text, *base[path], "the example has a namespace");
    head.insert(path.into(), text.into());
    let [before, after] = [&base, &head].map(|files| see(files, manner).unwrap());
    let both = see_both(&base, &head, manner, Settings::verified()).unwrap();
    assert_eq!(laws::broken(&before, &after, &both), Vec::<String>::new());
    for (one, other, message) in [
        (&before, &before, "changed outputs: reported, not found"),
        (&after, &after, "changed outputs: reported, not found"),
        (&after, &before, "base north armada/Chart/v1 horizon"),
    ] {
        let wrong = laws::broken(one, other, &both).join("\n");
        assert!(wrong.contains(message), "{wrong}");
    }
}
