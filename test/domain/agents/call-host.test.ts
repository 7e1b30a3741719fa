import { expect, test } from "vitest";
import { agentNotFound } from "../../../domain/agents/agent-view.ts";
import { callHost } from "../../../domain/agents/call-host.ts";
import { AgentHostError, type AgentHostErrorCode, InstructionsConflict } from "../../../domain/ports/agent-host.ts";
import { type ErrorCode, ServiceError } from "../../../domain/shared/errors.ts";

async function fail(work: (signal: AbortSignal) => Promise<unknown>, deadlineMs?: number): Promise<unknown> {
  return callHost(work, agentNotFound, deadlineMs).then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
}

const CASES: [AgentHostErrorCode, ErrorCode, RegExp][] = [
  ["unreachable", "unavailable", /^Reason\. Try again later\. service_list_agents shows the status of the server\.$/],
  ["timed_out", "unavailable", /^Reason\. Try again later\. service_list_agents shows the status of the server\.$/],
  ["overloaded", "unavailable", /^Reason\.$/],
  ["invalid_response", "unavailable", /^Reason\. Nothing of its response was used\./],
  ["unauthorized", "conflict", /^Reason\.$/],
  ["unsupported", "conflict", /^Reason\.$/],
  ["conflict", "conflict", /^Reason\.$/],
  ["invalid_cursor", "invalid", /^cursor: invalid cursor/],
  ["not_found", "not_found", /^Agent not found\./],
];

test.each(CASES)("the error %s of a host becomes the error %s of the service", async (code, expected, message) => {
  const error = await fail(() => Promise.reject(new AgentHostError(code, "Reason.")));
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: expected, message: expect.stringMatching(message) });
});

test("a conflict of instructions tells the current hash", async () => {
  const error = await fail(() => Promise.reject(new InstructionsConflict("ab12")));
  expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("content_hash is ab12.") });
});

test("an operation that does not end is aborted at its deadline", async () => {
  const wait = (signal: AbortSignal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  expect(await fail(wait, 20)).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("does not respond in time"),
  });
});

test("an error of the host after the deadline stays the reason", async () => {
  const failLate = (signal: AbortSignal) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(new AgentHostError("unauthorized", "Reason."))),
    );
  expect(await fail(failLate, 20)).toMatchObject({ code: "conflict", message: "Reason." });
});

test("an unexpected error stays as it is", async () => {
  const unexpected = new TypeError("a mistake of the service");
  expect(await fail(() => Promise.reject(unexpected))).toBe(unexpected);
});
