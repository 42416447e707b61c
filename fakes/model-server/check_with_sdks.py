#!/usr/bin/env python3
"""Holds the fake model server against the vendors' own SDKs.

    python3 -m venv /tmp/v && /tmp/v/bin/pip install anthropic openai google-genai
    cargo build -p fake-model-server && /tmp/v/bin/python fakes/model-server/check_with_sdks.py target/debug/fake-model-server

Parsed models are validated strictly: a field that the SDK's types do not accept is a failure, not a shrug.
"""
import json, subprocess, sys, urllib.request

import anthropic, openai
from google import genai
from google.genai import errors as genai_errors, types

SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["findings", "note"],
    "properties": {"findings": {"type": "array", "items": {"type": "object", "additionalProperties": False, "required": ["file", "evidence"],
        "properties": {"file": {"type": "string"}, "evidence": {"type": "string"}}}}, "note": {"type": ["string", "null"]}},
}
PROMPT = "=== FILE a.rs ===\n+    12 let x = 1; // BUG(S1): wrong\nRole: security-reviewer\nCategories: S1, S2\n"
WANT = {"findings": [{"file": "a.rs", "evidence": "let x = 1; // BUG(S1): wrong"}], "note": None}
LONG = "d" * 12000

process = subprocess.Popen([sys.argv[1], "--port", "0"], stdout=subprocess.PIPE, text=True)
URL = process.stdout.readline().strip()
done = []


def script(**parts):
    request = urllib.request.Request(URL + "/_fake/script", json.dumps(parts).encode(), {"content-type": "application/json"})
    urllib.request.urlopen(request).read()


def ok(name, holds, *seen):
    if not holds:
        raise SystemExit(f"FAILED {name}: {seen}")
    done.append(name)


def strict(name, model):
    """The SDKs parse leniently; their types, asked again, do not."""
    type(model).model_validate(model.model_dump(mode="json", by_alias=True, exclude_unset=True))
    ok(name, True)


def strict_can_fail(model):
    """A check that cannot fail would prove nothing."""
    try:
        type(model).model_validate({**model.model_dump(mode="json"), "role": "nobody"})
    except Exception:
        return ok("strict check is strict", True)
    raise SystemExit("FAILED the strict check accepts anything")


def raises(name, kinds, call, check=lambda error: True):
    try:
        call()
    except kinds as error:
        return ok(name, check(error), error)
    raise SystemExit(f"FAILED {name}: no error")


def fault(kind):
    script(default={"fault": kind})


TOOL_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
CALL = {"tool_calls": {"calls": [{"name": "bash", "input": {"command": "ls"}}], "then": {"text": "after"}}}
STATUSES = [400, 401, 403, 404, 413, 429, 500, 503, 529]


def check_anthropic():
    client = anthropic.Anthropic(base_url=URL, api_key="k", max_retries=0)
    ask = dict(model="claude-x", max_tokens=500, messages=[{"role": "user", "content": PROMPT}])
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    script()
    message = client.messages.create(**ask, output_config=form)
    strict("anthropic message", message)
    strict_can_fail(message)
    ok("anthropic schema", json.loads(message.content[0].text) == WANT, message)
    with client.messages.stream(**ask, output_config=form) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    strict("anthropic stream", final)
    ok("anthropic stream text", json.loads(final.content[0].text) == WANT and final.usage.output_tokens > 5, final)
    ok("anthropic stream order", kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds)
    ok("anthropic count", client.messages.count_tokens(model="m", messages=ask["messages"]).input_tokens == final.usage.input_tokens)
    ok("anthropic models", client.models.list().data[0].id == "fake-model")
    block = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
    cached = [client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": [block, {"type": "text", "text": role}]}]).usage
              for role in ("one", "two")]
    ok("anthropic cache", cached[0].cache_creation_input_tokens == 3000 and cached[1].cache_read_input_tokens == 3000
       and cached[1].input_tokens == 1, cached)
    script(default=CALL)
    tools = [{"name": "bash", "input_schema": TOOL_SCHEMA}]
    with client.messages.stream(**ask, tools=tools) as stream:
        final = stream.get_final_message()
    ok("anthropic tool", final.stop_reason == "tool_use" and final.content[0].input == {"command": "ls"}, final)
    results = [{"type": "tool_result", "tool_use_id": final.content[0].id, "content": "a"}]
    turns = ask["messages"] + [{"role": "assistant", "content": final.content}, {"role": "user", "content": results}]
    ok("anthropic then", client.messages.create(**{**ask, "messages": turns}, tools=tools).content[0].text == "after")
    fault("refusal")
    ok("anthropic refusal", client.messages.create(**ask).stop_reason == "refusal")
    fault("max_tokens")
    ok("anthropic max", client.messages.create(**ask).stop_reason == "max_tokens")
    fault({"error_event": {"after": 1}})
    raises("anthropic error event", anthropic.APIStatusError, lambda: list(client.messages.create(**ask, stream=True)),
           lambda error: "overloaded" in str(error).lower())
    for code in STATUSES:
        fault({"status": {"code": code, "retry_after": 7}})
        raises(f"anthropic {code}", anthropic.APIStatusError, lambda: client.messages.create(**ask),
               lambda error: error.status_code == code and error.response.headers["retry-after"] == "7" and error.body["type"] == "error")
    for kind in ("money", "prompt_too_long"):
        fault(kind)
        raises(f"anthropic {kind}", anthropic.BadRequestError, lambda: client.messages.create(**ask))
    fault("spend_limit")
    raises("anthropic spend limit", anthropic.RateLimitError, lambda: client.messages.create(**ask),
           lambda error: error.error_code == "enforced_spend_limit_reached")
    script(key="right")
    raises("anthropic key", anthropic.AuthenticationError, lambda: client.messages.create(**ask))


def check_openai():
    client = openai.OpenAI(base_url=URL + "/v1", api_key="k", max_retries=0)
    script()
    form = {"format": {"type": "json_schema", "name": "r", "strict": True, "schema": SCHEMA}}
    reply = client.responses.create(model="gpt-x", input=PROMPT, text=form)
    strict("responses body", reply)
    ok("responses schema", json.loads(reply.output_text) == WANT, reply)
    events = list(client.responses.create(model="gpt-x", input=PROMPT, text=form, stream=True))
    for event in events:
        strict(f"responses {event.type}", event)
    ok("responses stream", json.loads(events[-1].response.output_text) == WANT and events[-1].response.usage.output_tokens > 5)
    ok("responses numbers", [event.sequence_number for event in events] == list(range(len(events))))
    with client.responses.stream(model="gpt-x", input=PROMPT, text=form) as stream:
        ok("responses helper", json.loads(stream.get_final_response().output_text) == WANT)
    cached = [client.responses.create(model="m", input=LONG + role, prompt_cache_key="p").usage for role in ("one", "two")]
    ok("responses cache", [u.input_tokens_details.cached_tokens for u in cached] == [0, 2944] and cached[1].input_tokens == 3001, cached)
    chat = dict(model="gpt-x", messages=[{"role": "user", "content": PROMPT}])
    form = {"type": "json_schema", "json_schema": {"name": "r", "strict": True, "schema": SCHEMA}}
    reply = client.chat.completions.create(**chat, response_format=form)
    strict("chat body", reply)
    ok("chat schema", json.loads(reply.choices[0].message.content) == WANT, reply)
    chunks = list(client.chat.completions.create(**chat, response_format=form, stream=True, stream_options={"include_usage": True}))
    for chunk in chunks:
        strict("chat chunk", chunk)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    ok("chat stream", json.loads(text) == WANT and chunks[-1].usage.completion_tokens > 5 and not chunks[-1].choices, text)
    ok("chat no usage", all(chunk.usage is None for chunk in client.chat.completions.create(**chat, stream=True)))
    ok("openai models", client.models.list().data[0].id == "fake-model")
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    raises("chat strict schema", openai.BadRequestError, lambda: client.chat.completions.create(
        **chat, response_format={"type": "json_schema", "json_schema": {"name": "r", "strict": True, "schema": loose}}))
    script(default=CALL)
    tool = {"type": "function", "function": {"name": "bash", "parameters": TOOL_SCHEMA}}
    with client.chat.completions.stream(**chat, tools=[tool]) as stream:
        message = stream.get_final_completion().choices[0].message
    ok("chat tool", json.loads(message.tool_calls[0].function.arguments) == {"command": "ls"}, message)
    call = {"id": message.tool_calls[0].id, "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}
    turns = chat["messages"] + [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": call["id"], "content": "a"}]
    ok("chat then", client.chat.completions.create(model="m", messages=turns).choices[0].message.content == "after")
    tool = {"type": "function", "name": "bash", "parameters": TOOL_SCHEMA, "strict": False}
    events = list(client.responses.create(model="m", input="go", tools=[tool], stream=True))
    for event in events:
        strict(f"responses {event.type}", event)
    item = events[-1].response.output[0]
    ok("responses tool", item.type == "function_call" and json.loads(item.arguments) == {"command": "ls"}, item)
    fault("refusal")
    ok("chat refusal", client.chat.completions.create(**chat).choices[0].message.refusal)
    refused = list(client.responses.create(model="m", input="x", stream=True))
    ok("responses refusal", refused[-1].response.output[0].content[0].type == "refusal" and any(e.type == "response.refusal.delta" for e in refused))
    fault("max_tokens")
    ok("chat max", client.chat.completions.create(**chat).choices[0].finish_reason == "length")
    cut = list(client.responses.create(model="m", input="x", stream=True))[-1]
    ok("responses max", cut.type == "response.incomplete" and cut.response.incomplete_details.reason == "max_output_tokens")
    fault({"error_event": {"after": 1}})
    raises("chat error event", openai.APIError, lambda: list(client.chat.completions.create(**chat, stream=True)))
    failed = list(client.responses.create(model="m", input="x", stream=True))[-1]
    ok("responses failed", failed.type == "response.failed" and failed.response.error.code == "server_is_overloaded", failed)
    for code in STATUSES:
        fault({"status": {"code": code, "retry_after": 7}})
        raises(f"openai {code}", openai.APIStatusError, lambda: client.responses.create(model="m", input="x"),
               lambda error: error.status_code == code and error.response.headers["retry-after"] == "7" and "message" in error.body)
    fault("money")
    raises("openai money", openai.RateLimitError, lambda: client.chat.completions.create(**chat), lambda error: error.code == "insufficient_quota")
    fault("prompt_too_long")
    raises("openai long", openai.BadRequestError, lambda: client.chat.completions.create(**chat),
           lambda error: error.code == "context_length_exceeded")
    script(key="right")
    raises("openai key", openai.AuthenticationError, lambda: client.chat.completions.create(**chat))


def check_gemini():
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=URL))
    script()
    config = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
    reply = client.models.generate_content(model="gemini-x", contents=PROMPT, config=config)
    ok("gemini schema", json.loads(reply.text) == WANT, reply)
    strict("gemini body", reply)
    chunks = list(client.models.generate_content_stream(model="gemini-x", contents=PROMPT, config=config))
    ok("gemini stream", json.loads("".join(chunk.text or "" for chunk in chunks)) == WANT, chunks)
    ok("gemini usage", chunks[-1].usage_metadata.candidates_token_count > 5 and chunks[-1].candidates[0].finish_reason == "STOP")
    ok("gemini count", client.models.count_tokens(model="m", contents="abcdefgh").total_tokens == 2)
    ok("gemini models", next(iter(client.models.list())).name == "models/fake-model")
    cached = [client.models.generate_content(model="m", contents=[LONG, role]).usage_metadata for role in ("one", "two")]
    ok("gemini cache", cached[0].cached_content_token_count is None and cached[1].cached_content_token_count == 3000
       and cached[1].prompt_token_count == 3001, cached)
    script(default=CALL)
    tool = {"function_declarations": [{"name": "bash", "parameters_json_schema": TOOL_SCHEMA}]}
    quiet = {"disable": True}
    chunks = list(client.models.generate_content_stream(model="m", contents="go", config={"tools": [tool], "automatic_function_calling": quiet}))
    calls = [call for chunk in chunks for call in chunk.function_calls or []]
    ok("gemini tool", calls[0].args == {"command": "ls"}, calls)
    fault("refusal")
    ok("gemini refusal", client.models.generate_content(model="m", contents="x").prompt_feedback.block_reason == "PROHIBITED_CONTENT")
    fault("max_tokens")
    ok("gemini max", client.models.generate_content(model="m", contents="x").candidates[0].finish_reason == "MAX_TOKENS")
    for code in STATUSES:
        fault({"status": {"code": code, "retry_after": 39}})
        raises(f"gemini {code}", genai_errors.APIError, lambda: client.models.generate_content(model="m", contents="x"),
               lambda error: error.code == code and "39s" in json.dumps(error.details))
    for kind, code in (("money", 429), ("spend_limit", 429), ("bad_key", 400), ("prompt_too_long", 400)):
        fault(kind)
        raises(f"gemini {kind}", genai_errors.APIError, lambda: client.models.generate_content(model="m", contents="x"),
               lambda error: error.code == code and error.status)
    script(key="right")
    raises("gemini key", genai_errors.ClientError, lambda: client.models.generate_content(model="m", contents="x"), lambda error: error.code == 401)


try:
    check_anthropic()
    check_openai()
    check_gemini()
    versions = f"anthropic {anthropic.__version__}, openai {openai.__version__}, google-genai {genai.__version__}"
    print(f"{len(done)} checks hold ({versions})")
finally:
    process.terminate()
