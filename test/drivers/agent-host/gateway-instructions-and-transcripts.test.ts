import { describe, expect, test } from "vitest";
import type { HostedEntry } from "../../../domain/ports/agent-host.ts";
import { failure } from "../../support/agents/host-failure.ts";
import { readRequest, writeRequest } from "../../support/agents/host-request-builders.ts";
import { openScriptedHost } from "../../support/agents/scripted-openclaw-host.ts";

const signal = (): AbortSignal => AbortSignal.timeout(60_000);

describe("instructions on a gateway", () => {
  test("without a hash of the gateway they can be read, and are not replaced", async () => {
    await using opened = await openScriptedHost({}, { comparesHash: false });
    const { gateway, host } = opened;
    const { hash, content } = await host.readInstructions("main", signal());
    expect(content).toBe("# Rules\nBe brief.\n");
    const request = writeRequest({ agentId: "main", content: "# Mine\n", expectedHash: hash });
    const error = await failure(host.writeInstructions(request, signal()));
    expect([error.code, error.message]).toEqual(["unsupported", expect.stringContaining("Update OpenClaw")]);
    expect(gateway.state.files["main"]).toBe(content);
  });

  test("they are created when there are none", async () => {
    await using opened = await openScriptedHost();
    const { gateway, host } = opened;
    const { hash, content } = await host.readInstructions("sales", signal());
    expect(content).toBe("");
    await host.writeInstructions(
      writeRequest({ agentId: "sales", content: "# Sales\n", expectedHash: hash }),
      signal(),
    );
    expect(gateway.state.files["sales"]).toBe("# Sales\n");
  });

  const FILES: [what: string, file: object, code: string][] = [
    ["larger than the limit", { content: "x".repeat(32_769) }, "unsupported"],
    ["with a NUL character", { content: "a\0b" }, "unsupported"],
    ["that are not UTF-8", { content: "a\uFFFDb" }, "unsupported"],
    ["without a content", { content: undefined }, "invalid_response"],
  ];

  test.each(FILES)("instructions %s are refused", async (_what, change, code) => {
    await using opened = await openScriptedHost();
    opened.gateway.alter.set("agents.files.get", (payload) => {
      const { file } = payload as { file: object };
      return { ...payload, file: { ...file, ...change } };
    });
    expect(await failure(opened.host.readInstructions("main", signal()))).toMatchObject({ code });
  });

  test("a gateway that has stored something else is reported", async () => {
    await using opened = await openScriptedHost();
    opened.gateway.alter.set("agents.files.set", (payload) => ({
      ...payload,
      file: { name: "AGENTS.md", missing: false, content: "Other" },
    }));
    const { hash } = await opened.host.readInstructions("main", signal());
    const request = writeRequest({ agentId: "main", content: "# Mine\n", expectedHash: hash });
    expect(await failure(opened.host.writeInstructions(request, signal()))).toMatchObject({ code: "invalid_response" });
  });
});

test("texts of a transcript are bounded and without control characters", async () => {
  await using opened = await openScriptedHost();
  const { gateway, host } = opened;
  gateway.state.sessions[0]!.messages = [
    { role: "user", content: `a\u0000b\u001B[31mred\u202Ec\uD800${"x".repeat(30_000)}`, timestamp: 1 },
    { role: "custom", content: [{ type: "text", text: "of the gateway" }, { type: "image" }, 5], timestamp: -1 },
    { role: "assistant", content: [{ type: "toolCall", name: "t".repeat(500), arguments: { a: "y".repeat(30_000) } }] },
  ];
  const { entries } = await host.readTranscript(readRequest({ sessionId: "agent:main:main", limit: 10 }), signal());
  const [call, custom, user] = entries;
  expect(user?.content).toMatch(/^abredc\uFFFDx{10,}\n\[\d+ more characters\]$/);
  expect(custom).toMatchObject({ role: "system", content: "of the gateway\n[image]", createdAt: null });
  expect(call?.tool?.name).toBe("t".repeat(128));
  for (const { content } of entries) expect(content.length).toBeLessThan(20_100);
});

test("messages that are added while a transcript is read are not shown twice", async () => {
  await using opened = await openScriptedHost();
  const { gateway, host } = opened;
  const sessionId = "agent:main:main";
  const first = await host.readTranscript(readRequest({ sessionId, limit: 2 }), signal());
  gateway.state.sessions[0]!.messages.push({ role: "user", content: "one more", __openclaw: { seq: 7 } });
  const before = first.entries.at(-1)?.seq;
  const next = await host.readTranscript(readRequest({ sessionId, limit: 2, before }), signal());
  expect([first.entries.map(({ seq }) => seq), next.entries.map(({ seq }) => seq)]).toEqual([
    [6, 5],
    [4, 4],
  ]);
});

test.each([1, 2, 7, 30, 200])("in pages of %i entries, no part of a long transcript is missing", async (limit) => {
  await using opened = await openScriptedHost();
  const { gateway, host } = opened;
  const sessionId = "agent:main:main";
  gateway.state.sessions[0]!.messages = Array.from({ length: 60 }, (_, index) => ({
    role: "assistant",
    content: [
      { type: "text", text: `Message ${index + 1}` },
      ...Array.from({ length: index % 4 }, (__, call) => ({ type: "toolCall", name: "read", id: `${index}-${call}` })),
    ],
    __openclaw: { seq: index + 1 },
  }));
  const seen: HostedEntry[] = [];
  let before: number | undefined;
  do {
    const { entries, hasMore } = await host.readTranscript(readRequest({ sessionId, limit, before }), signal());
    seen.push(...entries);
    before = hasMore ? entries.at(-1)!.seq : undefined;
  } while (before !== undefined);
  const expected = Array.from({ length: 60 }, (_, index) => [
    [index + 1, undefined],
    ...Array.from({ length: index % 4 }, (__, call) => [index + 1, `${index}-${call}`]),
  ]).flat();
  expect(seen.toReversed().map(({ seq, tool }) => [seq, tool?.call_id])).toEqual(expected);
});
