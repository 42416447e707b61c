use super::*;
use crate::sandbox::{Facts, Network, Reads};

/// For what is expected to end by itself, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(600);

/// This machine, and one like it on which only Landlock holds programs.
#[cfg(target_os = "linux")]
fn machines() -> [Machine; 2] {
    let here = Machine::here();
    let facts = Facts { namespaces: false, bubblewrap: false, ..here.facts };
    [here, Machine { facts, ..here }]
}

fn shell_with(script: &str, clocks: Clocks, adjust: impl FnOnce(&mut Limits)) -> Result<Printed, Stopped> {
    shell_on(&Machine::here(), script, clocks, adjust)
}

fn shell_on(machine: &Machine, script: &str, clocks: Clocks, adjust: impl FnOnce(&mut Limits)) -> Result<Printed, Stopped> {
    let folder = tempfile::tempdir().unwrap();
    let command = ["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    let mut limits = Limits::new(Reads::default(), vec![folder.path().to_owned()], Network::None);
    adjust(&mut limits);
    let invocation = Invocation {
        command: &command,
        input: b"hello".to_vec(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[("GIVEN".to_owned(), "value".to_owned())],
        limits,
        clocks,
    };
    run_on(machine, &invocation, Company::default())
}

fn shell(script: &str) -> Result<Printed, AgentFailure> {
    Ok(shell_with(script, Clocks::total(PATIENCE), |_| {})?)
}

#[test]
fn it_reads_its_brief_and_prints_its_answer() {
    let printed = shell("cat").unwrap();
    assert_eq!(printed.stdout, b"hello");
    assert!(printed.success);
}

/// Issue, bad input: a hang ends with everything it started.
#[test]
fn a_hang_is_killed_with_its_children() {
    let begun = Instant::now();
    let stopped = shell_with("sleep 3600 & sleep 3600", Clocks::total(Duration::from_millis(300)), |_| {}).unwrap_err();
    assert_eq!(AgentFailure::from(stopped), AgentFailure::TimedOut { after_seconds: 0 });
    assert!(begun.elapsed() < PATIENCE, "it was waited for, not ended");
}

/// Issue, bad input: a gigabyte of output is cut short, not swallowed.
#[test]
fn a_flood_is_refused() {
    let failure = shell("head -c 1073741824 /dev/zero").unwrap_err();
    assert!(failure.to_string().contains("printed more than 32 MiB"), "{failure}");
}

#[test]
fn the_environment_is_allow_listed() {
    let printed = shell("env | cut -d= -f1 | sort | tr '\\n' ' '; echo $GIVEN").unwrap();
    let names = String::from_utf8(printed.stdout).unwrap();
    assert!(!names.contains("CARGO"), "{names}");
    assert!(names.contains("GIVEN") && names.contains("value"), "{names}");
}

#[test]
fn how_it_ended_is_passed_on() {
    let printed = shell("exit 7").unwrap();
    assert_eq!((printed.success, printed.code), (false, Some(7)));
    let printed = shell("kill -9 $$").unwrap();
    // A first process of its own stands between, which can only tell it by its code.
    assert!(!printed.success && (printed.exit.contains("signal: 9") || printed.code == Some(137)), "{}", printed.exit);
    let failure = run(&Invocation {
        command: &["/no/such/program".to_owned()],
        input: Vec::new(),
        directory: Path::new("/"),
        scratch: Path::new("/"),
        env: &[],
        set: &[],
        limits: Limits::new(Reads::default(), Vec::new(), Network::None),
        clocks: Clocks::total(PATIENCE),
    });
    assert!(failure.unwrap_err().to_string().contains("cannot be started"));
}

/// Issue, build 6: first byte, idle, total; each is named. Each runs alone, so that a slow machine cannot run out another one first.
#[test]
fn each_clock_is_named() {
    let (second, patient) = (Some(Duration::from_secs(1)), Clocks::total(PATIENCE));
    let silent = shell_with("sleep 3600", Clocks { first_byte: second, ..patient }, |_| {}).unwrap_err();
    assert_eq!(silent.why, Why::NoFirstByte { seconds: 1 });
    let stopped = shell_with("echo some; sleep 3600", Clocks { idle: second, ..patient }, |_| {}).unwrap_err();
    assert_eq!((stopped.why, stopped.stdout), (Why::Stalled { seconds: 1 }, b"some\n".to_vec()));
}

/// Signs of life hold up the clock between them, and not the total one.
#[test]
fn a_busy_one_runs_out_of_time() {
    // A slow machine may itself be silent for a second; for how long it is not is found by trying.
    let why = [1, 4, 16, 64].map(Duration::from_secs).into_iter().find_map(|idle| {
        let clocks = Clocks { first_byte: None, idle: Some(idle), total: idle * 3 };
        let why = shell_with("while echo x; do sleep 0.1; done", clocks, |_| {}).unwrap_err().why;
        (why == Why::OutOfTime { seconds: clocks.total.as_secs() }).then_some(why)
    });
    assert!(why.is_some(), "it was always taken for silent");
}

#[test]
fn lines_are_told_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let mut on_line = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
    let invocation = Invocation {
        command: &["sh".to_owned(), "-c".to_owned(), "printf 'a\\nb\\nrest'".to_owned()],
        input: Vec::new(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[],
        limits: Limits::new(Reads::default(), vec![folder.path().to_owned()], Network::None),
        clocks: Clocks::total(PATIENCE),
    };
    let printed = run_with(&invocation, Company { on_line: Some(&mut on_line), ..Company::default() }).unwrap();
    assert_eq!((lines, printed.stdout), (vec!["a".to_owned(), "b".to_owned()], b"a\nb\nrest".to_vec()));
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;

    /// Leaves its parents, its group and its session, closes its pipes, clears its environment; and is there when `started` is.
    const DAEMON: &str = "env -i setsid sh -c '(sleep 3600.MARK & : > started; wait) </dev/null >/dev/null 2>&1 &' </dev/null >/dev/null 2>&1 &\n\
         until [ -e started ]; do sleep 0.05; done\n";

    fn still_running(mark: &str) -> bool {
        let wanted = format!("sleep\03600.{mark}\0");
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
    }

    /// Looks again and again, for as long as a daemon that was left alone would go on.
    fn comes_to_be(what: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while !what() {
            if begun.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    fn daemon(mark: &str, ending: &str, clock: Duration, machine: &Machine) {
        let script = format!("{}{ending}", DAEMON.replace("MARK", mark));
        let ended = shell_on(machine, &script, Clocks::total(clock), |_| {});
        assert_eq!(ended.is_ok(), ending == "exit 0", "{ended:?}");
        assert!(comes_to_be(|| !still_running(mark)), "a daemon has survived");
    }

    /// Issue, accepted when: no child survives, in whatever way the run ends.
    #[test]
    fn daemons_end_with_the_run() {
        let soon = Duration::from_millis(1500);
        let [here, plain] = machines();
        daemon("7701", "exit 0", PATIENCE, &plain);
        daemon("7702", "sleep 3600", soon, &plain);
        daemon("7703", "exit 0", PATIENCE, &here);
        daemon("7704", "sleep 3600", soon, &here);
    }

    /// Not a test by itself: run as a program of its own by the next one, which kills it.
    #[test]
    #[ignore = "a part of `nothing_survives_our_own_death`"]
    fn one_that_will_be_killed() {
        let apart = std::env::var("TRIBUNAL_TEST_APART").is_ok_and(|apart| apart == "true");
        let mark = if apart { "7706" } else { "7705" };
        let script = format!("{}sleep 3600", DAEMON.replace("MARK", mark));
        let [here, plain] = machines();
        let _ = shell_on(if apart { &here } else { &plain }, &script, Clocks::total(PATIENCE * 2), |_| {});
    }

    /// `kill -9` asks nobody. The kernel tells the keeper, and the keeper ends the family.
    #[test]
    fn nothing_survives_our_own_death() {
        for (apart, mark) in [("false", "7705"), ("true", "7706")] {
            let mut other = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "process::tests::on_linux::one_that_will_be_killed"])
                .env("TRIBUNAL_TEST_APART", apart)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let appears = comes_to_be(|| still_running(mark));
            other.kill().unwrap();
            other.wait().unwrap();
            assert!(appears, "the daemon was never there");
            assert!(comes_to_be(|| !still_running(mark)), "a daemon has survived (apart: {apart})");
        }
    }

    #[test]
    fn a_memory_hog_is_stopped() {
        let hog = "x=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#x}; sleep 3600";
        for machine in machines() {
            let stopped = shell_on(&machine, hog, Clocks::total(PATIENCE), |limits| limits.memory = 200 * 1024 * 1024);
            // Either fence may be the first: the watch, or the limit on each process's data.
            match stopped {
                Err(stopped) => assert_eq!(stopped.why, Why::Memory { mebibytes: 200 }),
                Ok(printed) => assert!(!printed.success || printed.stdout.is_empty(), "{printed:?}"),
            }
        }
    }

    #[test]
    fn a_herd_of_processes_is_stopped() {
        // Bounded: it would end by itself at 200.
        let herd = "i=0; while [ $i -lt 200 ]; do sleep 3600 & i=$((i+1)); done; wait";
        for machine in machines() {
            let stopped = shell_on(&machine, herd, Clocks::total(PATIENCE), |limits| limits.processes = 40);
            assert_eq!(stopped.unwrap_err().why, Why::Processes { limit: 40 });
        }
    }

    /// F19: what it writes is bounded: in one file, in all files, in their number, and in files without a name.
    #[test]
    fn a_full_disk_is_not_its_to_make() {
        let wait = "sleep 3600";
        let scripts = [
            format!("for i in 1 2 3 4 5 6; do head -c 8000000 /dev/urandom > f$i; done; {wait}"),
            format!("i=0; while [ $i -lt 400 ]; do : > f$i; i=$((i+1)); done; {wait}"),
            format!("i=0; while [ $i -lt 260 ]; do mkdir d && cd d; i=$((i+1)); done; {wait}"),
            format!("exec 7> f 8> g; rm f g; head -c 9000000 /dev/urandom >&7; head -c 9000000 /dev/urandom >&8; {wait}"),
        ];
        for machine in machines() {
            for script in &scripts {
                let stopped = shell_on(&machine, script, Clocks::total(PATIENCE), |limits| {
                    limits.disk = 16 * 1024 * 1024;
                    limits.files = 300;
                });
                assert_eq!(stopped.unwrap_err().why, Why::Disk { mebibytes: 16, files: 300 }, "{script}");
            }
            let large = shell_on(&machine, "head -c 9000000 /dev/zero > f; wc -c < f", Clocks::total(PATIENCE), |limits| {
                limits.file_size = 1_000_000;
            });
            assert_eq!(large.unwrap().stdout, b"1000000\n");
            let open = "ulimit -n; ulimit -c; ulimit -f";
            let printed = shell_on(&machine, open, Clocks::total(PATIENCE), |limits| limits.open_files = 64).unwrap();
            assert!(printed.stdout.starts_with(b"64\n0\n"), "{printed:?}");
        }
    }

    /// What whoever started us left open is not the child's.
    #[test]
    fn descriptors_are_not_inherited() {
        use std::os::fd::AsRawFd as _;
        let secret = tempfile::tempfile().unwrap();
        // SAFETY: clears a flag of our own descriptor.
        #[allow(unsafe_code)]
        unsafe {
            libc::fcntl(secret.as_raw_fd(), libc::F_SETFD, 0);
        }
        for machine in machines() {
            let script = format!("[ -e /proc/self/fd/{} ] && echo inherited; echo end", secret.as_raw_fd());
            let printed = shell_on(&machine, &script, Clocks::total(PATIENCE), |_| {}).unwrap();
            assert_eq!(printed.stdout, b"end\n");
        }
    }

    /// B6 (c): nothing runs where nothing holds it, and the reason and the way on are said.
    #[test]
    fn without_any_sandbox_nothing_runs() {
        let facts = Facts { landlock: None, seccomp: true, namespaces: false, bubblewrap: false };
        let machine = Machine { facts, may_run_unconfined: false };
        let stopped = shell_on(&machine, "echo ran", Clocks::total(PATIENCE), |_| {}).unwrap_err();
        assert!(stopped.stdout.is_empty());
        let words = AgentFailure::from(stopped).to_string();
        assert!(words.contains("cannot confine it") && words.contains("TRIBUNAL_UNCONFINED=1"), "{words}");
        let allowed = Machine { may_run_unconfined: true, ..machine };
        assert_eq!(shell_on(&allowed, "echo ran", Clocks::total(PATIENCE), |_| {}).unwrap().stdout, b"ran\n");
    }

    /// A chain of processes, each of which leaves its group and starts the next one: none of them writes when the run is over.
    #[test]
    fn a_family_that_renews_itself_ends() {
        for machine in machines() {
            let folder = tempfile::tempdir().unwrap();
            // Each lives a twentieth of a second, and the chains end by themselves.
            let script = "[ $2 -gt 0 ] || exit; echo $1 $2 >> \"$0.log\"; sleep 0.05; (setsid sh \"$0\" $1 $(($2 - 1)) &)";
            let (link, log) = (folder.path().join("link.sh"), folder.path().join("link.sh.log"));
            std::fs::write(&link, script).unwrap();
            let start =
                format!("for n in 1 2 3; do setsid sh {0} $n 100 </dev/null >/dev/null 2>&1 & done; sleep 0.3", link.display());
            let own = folder.path().to_owned();
            shell_on(&machine, &start, Clocks::total(PATIENCE), |limits| limits.writable.push(own)).unwrap();
            let written = std::fs::read(&log).unwrap();
            assert!(!written.is_empty());
            std::thread::sleep(Duration::from_millis(300));
            assert_eq!(std::fs::read(&log).unwrap(), written, "{machine:?}: somebody is left");
        }
    }

    /// B6 (d): a layer that was planned and cannot be built ends the child.
    #[test]
    fn a_layer_that_cannot_be_built_ends_the_child() {
        let here = Machine::here();
        if here.facts.namespaces {
            // Its working folder is not among what it sees, so the last step into its files fails.
            let elsewhere = tempfile::tempdir().unwrap();
            let ran = run_on(
                &here,
                &Invocation {
                    command: &["sh".to_owned(), "-c".to_owned(), "echo ran".to_owned()],
                    input: Vec::new(),
                    directory: elsewhere.path(),
                    scratch: elsewhere.path(),
                    env: &[],
                    set: &[],
                    limits: Limits::new(Reads::default(), Vec::new(), Network::None),
                    clocks: Clocks::total(PATIENCE),
                },
                Company::default(),
            );
            let stopped = ran.unwrap_err();
            assert!(stopped.stdout.is_empty() && stopped.why.to_string().contains("while mounting the files"), "{stopped:?}");
        }
        if tribunal_programs::find("bwrap").is_none() {
            let facts = Facts { namespaces: false, bubblewrap: true, ..here.facts };
            let stopped = shell_on(&Machine { facts, ..here }, "echo ran", Clocks::total(PATIENCE), |_| {}).unwrap_err();
            assert!(stopped.stdout.is_empty() && stopped.why.to_string().contains("bubblewrap cannot be used"), "{stopped:?}");
        }
    }

    #[test]
    fn it_cannot_write_outside_its_folder() {
        if crate::sandbox::describe().starts_with("none") {
            eprintln!("SKIPPED: this kernel has no Landlock");
            assert!(std::env::var_os("CI").is_none(), "CI must have Landlock");
            return;
        }
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("written");
        let script = format!("echo x > {} ; echo y > inside && cat inside", target.display());
        for machine in machines() {
            let printed = shell_on(&machine, &script, Clocks::total(PATIENCE), |_| {}).unwrap();
            assert!(!target.exists());
            assert_eq!(printed.stdout, b"y\n");
        }
    }
}
