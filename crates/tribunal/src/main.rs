//! `tribunal`: the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    tribunal::run()
}
