//! A program that is driven over its standard streams.

use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::Sandbox;

pub struct Piped {
    pub process: Child,
    pub output: BufReader<ChildStdout>,
}

impl Piped {
    pub fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut process = sandbox
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub fn input(&mut self) -> &mut ChildStdin {
        self.process.stdin.as_mut().unwrap()
    }

    /// Exit code after the end of its input, and standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.process.stdin.take());
        let output = self.process.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}
