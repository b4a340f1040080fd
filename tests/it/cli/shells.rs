//! Completion in real shells, on a pseudo-terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Sandbox;
use super::shell_integration::{path_with_program, with_hostile_names};
use super::terminal::open_terminal;

/// Arguments of an interactive shell without configuration, and the command that loads completions.
const INTERACTIVE: [(&[&str], &str); 3] = [
    (
        &["bash", "--norc", "--noprofile", "-i"],
        "source layercake.bash",
    ),
    (
        &["zsh", "-f", "-i"],
        "autoload -Uz compinit; compinit -u -D; source layercake.zsh",
    ),
    (&["fish", "--no-config", "-i"], "source layercake.fish"),
];

/// In a real shell, on a terminal: completes names twice, and runs the line.
#[test]
fn hostile_names_do_not_reach_the_line_of_a_shell() {
    for (shell, load) in INTERACTIVE {
        let sandbox = with_hostile_names();
        let script = sandbox.run(&["completions", shell[0]]).stdout;
        sandbox.write(&format!("layercake.{}", shell[0]), script);
        let Some(mut session) = ShellOnTerminal::open(&sandbox, shell) else {
            eprintln!("skipped: {} is not installed", shell[0]);
            continue;
        };
        session.run(load);
        for line in [
            "blame la",
            "lint --site la",
            "lint --since la",
            "lint --config files/la",
        ] {
            session.type_in(&format!("layercake {line}\t\t"));
            session.type_in("\r");
        }
        session.run("true");
        let seen = session.seen();
        assert!(
            seen.contains("lab-2") && seen.contains("lab-1"),
            "{}: {seen}",
            shell[0]
        );
        assert!(!seen.contains("touch"), "{}: {seen}", shell[0]);
        assert!(!sandbox.path("PWNED").exists(), "{}: {seen}", shell[0]);
    }
}

/// An interactive shell on a pseudo-terminal.
struct ShellOnTerminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    commands: usize,
}

impl ShellOnTerminal {
    /// Time without output after which the shell waits for keys.
    const QUIET: Duration = Duration::from_millis(800);

    /// Longer than any command takes on a busy machine.
    const MAX_WAIT: Duration = Duration::from_secs(60);

    /// `None` if the shell is not installed.
    fn open(sandbox: &Sandbox, shell: &[&str]) -> Option<Self> {
        Command::new(shell[0]).arg("--version").output().ok()?;
        let (terminal, program) = open_terminal();
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait"])
            .args(shell)
            .current_dir(&sandbox.root);
        command
            .env_clear()
            .env("PATH", path_with_program())
            .env("HOME", &sandbox.root);
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        command
            .stdin(program.try_clone().unwrap())
            .stdout(program.try_clone().unwrap());
        let child = command.stderr(program).spawn().unwrap();
        let keys = File::from(terminal);
        let (mut screen, (sender, shown)) = (keys.try_clone().unwrap(), channel());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut session = Self {
            child,
            keys,
            shown,
            seen: Vec::new(),
            commands: 0,
        };
        session.wait();
        Some(session)
    }

    /// Types keys, and waits until the shell shows nothing more.
    fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.wait();
    }

    fn wait(&mut self) {
        while let Ok(bytes) = self.shown.recv_timeout(Self::QUIET) {
            self.seen.extend(bytes);
        }
    }

    /// Runs a command to its end.
    fn run(&mut self, command: &str) {
        self.commands += 1;
        let end = format!("end-{}", self.commands);
        // The typed line differs from the printed one.
        let typed = format!("\u{15}{command}; echo e\"\"nd-{}\r", self.commands);
        self.keys.write_all(typed.as_bytes()).unwrap();
        let start = Instant::now();
        while !self.seen().contains(&end) {
            assert!(
                start.elapsed() < Self::MAX_WAIT,
                "{command}: {}",
                self.seen()
            );
            self.wait();
        }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }
}

impl Drop for ShellOnTerminal {
    fn drop(&mut self) {
        // The shell is a child of `setsid`, and ends with its input.
        drop(self.keys.write_all(b"\x15exit\r"));
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
