//! What a request may hold, by its wire: fields that only say how to answer, and tools that the vendor only describes to its model.

use tribunal_core::policy::agents::Wire;

const ANTHROPIC: [&str; 25] = [
    "anthropic_version",
    "betas",
    "cache_control",
    "context_management",
    "diagnostics",
    "effort",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user_profile_id",
];

const OPENAI: [&str; 28] = [
    "client_metadata",
    "context_management",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// With those of servers that speak the same.
const OPENAI_CHAT: [&str; 44] = [
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "function_call",
    "functions",
    "keep_alive",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "min_p",
    "modalities",
    "model",
    "n",
    "options",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "repetition_penalty",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "think",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "usage",
    "user",
    "verbosity",
];

const GEMINI: [&str; 13] = [
    "contents",
    "generationConfig",
    "generation_config",
    "labels",
    "model",
    "safetySettings",
    "safety_settings",
    "serviceTier",
    "systemInstruction",
    "system_instruction",
    "toolConfig",
    "tool_config",
    "tools",
];

pub fn fields(wire: Wire) -> &'static [&'static str] {
    match wire {
        Wire::Anthropic => &ANTHROPIC,
        Wire::Openai => &OPENAI,
        Wire::OpenaiChat => &OPENAI_CHAT,
        Wire::Gemini => &GEMINI,
    }
}

/// Kinds of tools that whoever asked runs itself.
const KINDS: [&str; 6] = ["function", "custom", "namespace", "local_shell", "apply_patch", "tool_search"];
/// The same, with the date of a version behind them.
const DATED_KINDS: [&str; 4] = ["bash_", "text_editor_", "memory_", "tool_search_tool_"];

pub fn runs_here(kind: &str) -> bool {
    KINDS.contains(&kind) || DATED_KINDS.iter().any(|start| kind.starts_with(start))
}
