import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  type AgentHost,
  AgentHostError,
  type HostedEntry,
  type HostedSession,
  InstructionsConflict,
} from "../../domain/ports/agent-host.ts";
import { readRequest, writeRequest } from "../support/agents/host-request-builders.ts";

/** A host with two agents. Each test gets its own, or one that no other test changes at the same time. */
export interface OpenAgentHost extends AsyncDisposable {
  host: AgentHost;
  mainId: string;
  /** Another agent, which has at least one session and no instructions, or any. */
  otherId: string;
  /** A session of the main agent, with at least four messages, of which the first is of the user. */
  sessionId: string;
  /** Each message and tool call of the session, oldest first. */
  transcript: { role: string; content: string; tool?: string }[];
}

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof AgentHostError ? error.code : error;
}

/** The guarantees of every agent host. */
export function describeAgentHostContract(name: string, open: () => Promise<OpenAgentHost>): void {
  describe(`agent host: ${name}`, () => {
    test("all agents are listed, and one of them is the main agent", async () => {
      await using opened = await open();
      const { mainId, agents } = await opened.host.listAgents(signal());
      expect(mainId).toBe(opened.mainId);
      expect(agents.map(({ id }) => id).toSorted()).toEqual([opened.mainId, opened.otherId].toSorted());
      for (const agent of agents) expect(agent.name).toMatch(/^\S(.{0,98}\S)?$/);
    });

    test("the pages of the sessions together have each session once, with its agent and its token counters", async () => {
      await using opened = await open();
      const all = await listSessions(opened.host, 100);
      expect(all.map(({ id }) => id)).toContain(opened.sessionId);
      expect(all.map(({ agentId }) => agentId)).toContain(opened.otherId);
      for (const { tokens, updatedAt, createdAt } of all) {
        const { input, output, cache_read: cacheRead, cache_write: cacheWrite, total } = tokens;
        expect(total).toBe(input + output + cacheRead + cacheWrite);
        expect(updatedAt.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
      }
      expect(all.find(({ id }) => id === opened.sessionId)?.tokens.total).toBeGreaterThan(0);
      expect((await listSessions(opened.host, 1)).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    });

    test("sessions can be listed for one agent", async () => {
      await using opened = await open();
      const listed = await listSessions(opened.host, 100, opened.otherId);
      expect(new Set(listed.map(({ agentId }) => agentId))).toEqual(new Set([opened.otherId]));
    });

    test("a cursor that the host has not returned is refused", async () => {
      await using opened = await open();
      const request = { agentId: null, limit: 10, cursor: "bm9uZQ" };
      expect(await codeOf(opened.host.listSessions(request, signal()))).toBe("invalid_cursor");
    });

    test("a transcript is read from its end backwards, and the pages together are the whole transcript", async () => {
      await using opened = await open();
      const { host, sessionId, transcript } = opened;
      const whole = (await host.readTranscript(readRequest({ sessionId, limit: 200 }), signal())).entries.toReversed();
      expect(whole.map(({ role, content, tool }) => ({ role, content, tool: tool?.name }))).toEqual(
        transcript.map(({ role, content, tool }) => ({
          role,
          content,
          tool,
        })),
      );
      expect(await readBackwards(host, sessionId, 1)).toEqual(whole);
      expect(await readBackwards(host, sessionId, 3)).toEqual(whole);
    });

    test("long contents are cut at the requested length", async () => {
      await using opened = await open();
      const { host, sessionId, transcript } = opened;
      const request = { sessionId, limit: 200, maxCharacters: 4 };
      const { entries } = await host.readTranscript(request, signal());
      expect(entries.toReversed().map(({ content }) => content.slice(0, 4))).toEqual(
        transcript.map(({ content }) => content.slice(0, 4)),
      );
      for (const { content } of entries) expect(content.length).toBeLessThan(50);
    });

    test("nothing is before the first entry of a transcript", async () => {
      await using opened = await open();
      const request = readRequest({ sessionId: opened.sessionId, limit: 10, before: 1 });
      const page = await opened.host.readTranscript(request, signal());
      expect(page).toEqual({ entries: [], hasMore: false });
    });

    test("an unknown session and an unknown agent are not found", async () => {
      await using opened = await open();
      const unknown = opened.sessionId.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      const request = readRequest({ sessionId: unknown, limit: 10 });
      expect(await codeOf(opened.host.readTranscript(request, signal()))).toBe("not_found");
      expect(await codeOf(opened.host.listSkills("nobody", signal()))).toBe("not_found");
      expect(await codeOf(opened.host.readInstructions("nobody", signal()))).toBe("not_found");
    });

    test("a skill that an agent cannot use says what is missing", async () => {
      await using opened = await open();
      const { skills } = await opened.host.listSkills(opened.mainId, signal());
      expect(skills.length).toBeGreaterThan(0);
      expect(skills.filter(({ eligible, missing }) => eligible && missing.length > 0)).toEqual([]);
      expect(skills.some(({ eligible, missing }) => !eligible && missing.length > 0)).toBe(true);
    });

    test("instructions are replaced if they are the expected ones", async () => {
      await using opened = await open();
      const { host, mainId: agentId } = opened;
      const before = await host.readInstructions(agentId, signal());
      expect(before.hash).toBe(sha256(before.content));
      const content = `# Rules\nWritten at ${Date.now()} – äöü 🙂\n`;
      const after = await host.writeInstructions(
        writeRequest({ agentId, content, expectedHash: before.hash }),
        signal(),
      );
      expect([after.content, after.hash]).toEqual([content, sha256(content)]);
      const request = writeRequest({ agentId, content: "Mine", expectedHash: before.hash });
      const stale = host.writeInstructions(request, signal());
      await expect(stale).rejects.toThrow(InstructionsConflict);
      await expect(stale).rejects.toMatchObject({ code: "conflict", currentHash: after.hash });
      expect(await host.readInstructions(agentId, signal())).toMatchObject({ content, hash: after.hash });
    });

    test("of two simultaneous replacements one fails, and nothing of it is stored", async () => {
      await using opened = await open();
      const { host, mainId: agentId } = opened;
      const { hash: expectedHash } = await host.readInstructions(agentId, signal());
      const contents = ["# One\n", "# Two\n"];
      const results = await Promise.allSettled(
        contents.map((content) => host.writeInstructions(writeRequest({ agentId, content, expectedHash }), signal())),
      );
      const [winner] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.content] : []));
      expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect((await host.readInstructions(agentId, signal())).content).toBe(winner);
    });

    test("an aborted operation ends with the reason of its signal", async () => {
      await using opened = await open();
      const reason = new Error("no longer needed");
      await expect(opened.host.listAgents(AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}

async function listSessions(host: AgentHost, limit: number, agentId: string | null = null): Promise<HostedSession[]> {
  const sessions: HostedSession[] = [];
  let cursor: string | undefined;
  do {
    const { items, next } = await host.listSessions({ agentId, limit, cursor }, signal());
    sessions.push(...items.map(({ item }) => item));
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return sessions;
}

async function readBackwards(host: AgentHost, sessionId: string, limit: number): Promise<HostedEntry[]> {
  const newestFirst: HostedEntry[] = [];
  let before: number | undefined;
  do {
    const { entries, hasMore } = await host.readTranscript(readRequest({ sessionId, limit, before }), signal());
    newestFirst.push(...entries);
    before = hasMore ? entries.at(-1)?.seq : undefined;
  } while (before !== undefined);
  return newestFirst.toReversed();
}
