//! The end of another process.

/// Returns when the process with this id has ended. Never returns if there is none, as for a process
/// outside of this container, or on systems without such ids.
pub fn wait_for_end(process: i32) {
    if !is_ended(process) {
        loop {
            std::thread::park();
        }
    }
}

/// Waits for the end of a process; false if there is none.
#[cfg(target_os = "linux")]
fn is_ended(process: i32) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let id = Pid::from_raw(process);
    let Some(handle) = id.and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok()) else {
        return false;
    };
    // It is readable when the process ends.
    let mut waiting = [PollFd::new(&handle, PollFlags::IN)];
    while poll(&mut waiting, None) == Err(rustix::io::Errno::INTR) {}
    true
}

/// As on Linux, but looks each second.
#[cfg(all(unix, not(target_os = "linux")))]
fn is_ended(process: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let Some(id) = Pid::from_raw(process).filter(|id| test_kill_process(*id).is_ok()) else {
        return false;
    };
    while test_kill_process(id).is_ok() {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    true
}

/// A client that ends closes its streams.
#[cfg(not(unix))]
fn is_ended(_: i32) -> bool {
    false
}
