//! How much one question may hold and take, in tokens: what is left of a model's window for the change, and the most that a call
//! may be billed for.

use super::usage::Usage;
use crate::policy::agents::{AgentConfig, Means};

const DEFAULT_WINDOW: u64 = 128_000;
/// What an agent CLI is given at once, unless the config says otherwise.
const DEFAULT_CLI_WINDOW: u64 = 100_000;
const DEFAULT_OUTPUT: u64 = 16_000;
const DEFAULT_TURNS: u32 = 24;
/// Turns that a bill is reckoned with; a CLI that takes more is stopped by its own cap.
const RECKONED_TURNS: u64 = 8;
/// Tokens of instructions and tools that a CLI adds to a prompt.
const CLI_PREAMBLE: u64 = 12_000;
/// A part beyond this is read less carefully, whatever a model's window holds.
const LARGEST_PART: u64 = 60_000;
const SMALLEST_PART: u64 = 500;
/// The schema, the headings, and what an estimate may be off by.
const RESERVE: u64 = 3_000;

/// The most that one question may take.
pub fn worst_case(agent: &AgentConfig, input: u64) -> Usage {
    match agent.means() {
        Means::Model(_, config) => {
            Usage { input, output: config.max_output_tokens.unwrap_or(DEFAULT_OUTPUT), ..Usage::default() }
        }
        // A CLI sends its prompt again with every turn, and its own instructions with it.
        Means::Cli(_, config) => {
            let turns = u64::from(config.max_turns.unwrap_or(DEFAULT_TURNS)).min(RECKONED_TURNS);
            Usage { input: (input + CLI_PREAMBLE) * turns, output: DEFAULT_OUTPUT, ..Usage::default() }
        }
        Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => Usage::default(),
    }
}

/// What is left for the change itself, beside `fixed` tokens of rules and role.
pub fn room(agent: &AgentConfig, fixed: u64) -> u64 {
    let (window, output) = match agent.means() {
        Means::Model(_, config) => {
            (config.context_tokens.unwrap_or(DEFAULT_WINDOW), config.max_output_tokens.unwrap_or(DEFAULT_OUTPUT))
        }
        Means::Cli(_, config) => (config.context_tokens.unwrap_or(DEFAULT_CLI_WINDOW), DEFAULT_OUTPUT),
        Means::Rules | Means::Command | Means::Sarif | Means::NotTrusted => (DEFAULT_WINDOW, DEFAULT_OUTPUT),
    };
    let left = window.saturating_sub(output.min(window / 4)).saturating_sub(fixed + RESERVE);
    // A third of the part may come on top as context.
    (left * 3 / 4).clamp(SMALLEST_PART, LARGEST_PART)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::agents::ModelConfig;

    #[test]
    fn a_small_window_gives_small_parts_and_a_huge_one_no_huge_ones() {
        let agent = |tokens| AgentConfig::Gemini(ModelConfig { context_tokens: Some(tokens), ..ModelConfig::default() });
        assert_eq!(room(&agent(2_000), 3_000), SMALLEST_PART);
        assert!(room(&agent(16_000), 3_000) < 5_000);
        assert_eq!(room(&agent(1_000_000), 3_000), LARGEST_PART);
    }
}
