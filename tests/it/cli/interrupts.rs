//! A run that is interrupted ends by the signal, and leaves nothing half done.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{Sandbox, document};

#[test]
fn an_interrupted_run_leaves_what_was_there() {
    let sandbox = Sandbox::with_sites();
    for number in 0..1500 {
        let name = format!("many-{number}");
        sandbox.write(&format!("global/{name}.yaml"), document(&name, "global", "{a: [1, 2]}"));
    }
    sandbox.write("out.txt", "what was there before\n");
    let mut ended = 0;
    for (signal, number) in [("INT", 2), ("TERM", 15), ("INT", 2), ("TERM", 15)] {
        let arguments = ["lint", "--fix", "-o", "json=out.txt"];
        let mut command = sandbox.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(40 * (1 + ended)));
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let status = child.wait().unwrap();
        let text = fs::read_to_string(sandbox.path("out.txt")).unwrap();
        if status.signal() == Some(number) {
            ended += 1;
            assert_eq!(text, "what was there before\n");
        } else {
            // It was done before the signal came.
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{status}: {text}");
            sandbox.write("out.txt", "what was there before\n");
        }
        let entries = fs::read_dir(&sandbox.root).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = names.filter(|name| name.starts_with(".out")).collect();
        assert_eq!(left, [] as [&str; 0]);
        assert_eq!(sandbox.git(&["status", "--short", "--", "site"]), "?? site/\n");
    }
    assert!(ended > 0, "no run was long enough to be interrupted");
}
