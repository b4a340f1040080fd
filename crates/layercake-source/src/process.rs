//! Other processes.

/// True if a process with this id runs here. False for one outside of this container, and on systems
/// without such ids.
#[cfg(unix)]
pub fn is_running(process: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    Pid::from_raw(process).is_some_and(|id| test_kill_process(id).is_ok())
}

#[cfg(not(unix))]
pub fn is_running(_: i32) -> bool {
    false
}
