import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { InstructionRevision } from "../../../domain/agents/instruction-revision.entity.ts";
import { readInstructions } from "../../../domain/agents/read-instructions.ts";
import { type SetInstructions, setInstructions } from "../../../domain/agents/set-instructions.ts";
import { storeRevision } from "../../../domain/agents/store-revision.ts";
import { type Db, queryBuilderOf } from "../../../domain/database-types.ts";
import { AgentHostError } from "../../../domain/ports/agent-host.ts";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { callerOf, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { type ScriptedHost, ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const hosts = new ScriptedHosts();
const instructionLock = new KeyedLock();
const AUTHOR = { userId: null, credentialKind: "api_key", credentialId: "test" } as const;
let db: Db;
let server: Awaited<ReturnType<typeof givenServer>>;
let agentId: string;
let host: ScriptedHost;

beforeAll(() => {
  db = queryBuilderOf(orm().em.fork());
});

beforeEach(async () => {
  server = await givenServer(orm(), { agents: ["main", "sales"] });
  agentId = server.agentIds[0]!;
  host = hosts.of(server.serverId);
  host.files.set("main", "Before");
});

const access = () => ({ db, hosts, tokenCipher, managedHost: () => expect.unreachable() });
const set = (request: SetInstructions, caller = callerOf(server.orgId)) =>
  setInstructions({ ...access(), em: orm().em, instructionLock }, caller, {
    agent_id: agentId,
    ...request,
  });
const read = (id = agentId) => readInstructions(access(), callerOf(server.orgId), id);
const revisions = async (id = agentId) =>
  (
    await orm()
      .em.fork()
      .find(InstructionRevision, { agentId: id }, { orderBy: { number: "asc" } })
  ).map(({ number, content, revertedTo, credentialKind, credentialId }) => [
    number,
    content,
    revertedTo,
    credentialKind,
    credentialId,
  ]);

test("the replaced version and the new one are kept, each with who wrote it", async () => {
  expect(await set({ content: "After" })).toMatchObject({
    agent_id: agentId,
    before: { content: "Before", content_hash: sha256Hex("Before") },
    after: { content: "After", content_hash: sha256Hex("After") },
    revision: 2,
    previous_revision: 1,
  });
  expect(await revisions()).toEqual([
    [1, "Before", null, "openclaw", server.serverId],
    [2, "After", null, "personal_access_token", "token"],
  ]);
  expect(await set({ revert_to: 1 })).toMatchObject({ after: { content: "Before" }, revision: 3 });
  expect((await revisions()).at(-1)).toEqual([3, "Before", 1, "personal_access_token", "token"]);
  expect([host.files.get("main"), await revisions(server.agentIds[1])]).toEqual(["Before", []]);
});

test("the same content is not written, and the current version is kept", async () => {
  expect(await set({ content: "Before" })).toMatchObject({ revision: 1, previous_revision: 1, diff: null });
  expect([host.writes, await revisions()]).toEqual([0, [[1, "Before", null, "openclaw", server.serverId]]]);
});

test("the revision of the current version is 0 until it is kept, and after an edit on the host", async () => {
  expect(await read()).toMatchObject({ content: "Before", content_hash: sha256Hex("Before"), revision: 0 });
  expect(await read(server.agentIds[1])).toMatchObject({ content: "", content_hash: sha256Hex(""), revision: 0 });
  await set({ content: "After" });
  expect(await read()).toMatchObject({ content: "After", revision: 2 });
  host.files.set("main", "Edited");
  expect(await read()).toMatchObject({ content: "Edited", revision: 0 });
  const created = await db.selectFrom("agents").select("created_at").where("id", "=", agentId).executeTakeFirst();
  expect((await read()).updated_at).toBe(new Date(String(created!.created_at)).toISOString());
});

test.each([{}, { content: "a", revert_to: 1 }])("%j is rejected", async (request) => {
  await expect(set(request)).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("Send either"),
  });
});

test("a revision of another agent cannot be restored", async () => {
  await set({ content: "Of sales", agent_id: server.agentIds[1]! });
  host.writes = 0;
  await expect(set({ revert_to: 1 })).rejects.toMatchObject({ code: "not_found" });
  expect(host.writes).toBe(0);
});

test("an agent cannot replace the instructions of another one", async () => {
  await expect(set({ content: "Mine" }, callerOf(server.orgId, server.agentIds[1]))).rejects.toMatchObject({
    code: "forbidden",
  });
  await set({ content: "Mine" }, callerOf(server.orgId, agentId));
  expect(host.files.get("main")).toBe("Mine");
});

describe("instructions that change at the same time", () => {
  /** Lets another program edit the file before each of the first writes. */
  function editBefore(writes: number): void {
    host.writes = 0;
    host.beforeWrite = () => {
      if (host.writes <= writes) host.files.set("main", `Edit ${host.writes}`);
    };
  }

  test("are replaced in up to five attempts, and every version is kept", async () => {
    editBefore(4);
    expect(await set({ content: "After" })).toMatchObject({ before: { content: "Edit 4" }, revision: 6 });
    expect([host.writes, host.files.get("main")]).toEqual([5, "After"]);
    expect((await revisions()).map(([, content]) => content)).toEqual([
      "Before",
      "Edit 1",
      "Edit 2",
      "Edit 3",
      "Edit 4",
      "After",
    ]);
  });

  test("by calls of this process wait for each other, so none is repeated", async () => {
    host.writes = 0;
    const contents = Array.from({ length: 10 }, (_, index) => `Version ${index}`);
    await Promise.all(contents.map((content) => set({ content })));
    expect([host.writes, (await revisions()).length]).toEqual([10, 11]);
  });

  test("are not replaced after five attempts", async () => {
    editBefore(5);
    await expect(set({ content: "After" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(sha256Hex("Edit 5")),
    });
    expect([host.writes, host.files.get("main")]).toEqual([5, "Edit 5"]);
  });

  test("are not replaced with an expected hash", async () => {
    editBefore(1);
    const request = { content: "After", expected_hash: sha256Hex("Before").toUpperCase() };
    await expect(set(request)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(sha256Hex("Edit 1")),
    });
    await expect(set(request)).rejects.toMatchObject({ code: "conflict" });
    expect([host.writes, host.files.get("main")]).toEqual([1, "Edit 1"]);
  });
});

describe("a failed write", () => {
  test.each(["unreachable", "timed_out", "invalid_response"] as const)(
    "with the error %s says that its result is not known",
    async (code) => {
      host.beforeWrite = () => {
        throw new AgentHostError(code, "Reason.");
      };
      await expect(set({ content: "After" })).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/^Reason\. It is not known whether the instructions were replaced/),
      });
      expect((await revisions()).map(([, content]) => content)).toEqual(["Before"]);
    },
  );

  test("at the deadline says that its result is not known", async () => {
    const deadline = new AbortController();
    using _timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
    host.beforeWrite = () => {
      deadline.abort();
      throw deadline.signal.reason as Error;
    };
    await expect(set({ content: "After" })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /does not respond in time\. It is not known whether the instructions were replaced/,
      ),
    });
  });

  test("with another error is not repeated, and stays as it is", async () => {
    host.beforeWrite = () => {
      throw new AgentHostError("unauthorized", "Reason.");
    };
    await expect(set({ content: "After" })).rejects.toMatchObject({ code: "conflict", message: "Reason." });
    const unexpected = new TypeError("a mistake of the service");
    host.beforeWrite = () => {
      throw unexpected;
    };
    host.writes = 0;
    await expect(set({ content: "After" })).rejects.toBe(unexpected);
    expect(host.writes).toBe(1);
  });
});

describe("a stored revision", () => {
  const store = (content: string, more: object = {}) =>
    storeRevision(orm().em, { agentId, content, revertedTo: null, author: AUTHOR, ...more });

  test("has the next number, and the same content again creates no revision", async () => {
    expect([await store(""), await store("One"), await store("One"), await store("Two"), await store("One")]).toEqual([
      0, 1, 1, 2, 3,
    ]);
    expect((await revisions()).map(([number, content]) => [number, content])).toEqual([
      [1, "One"],
      [2, "Two"],
      [3, "One"],
    ]);
  });

  test("has the time that is given", async () => {
    const createdAt = new Date("2026-01-02T03:04:05.678Z");
    await store("One", { createdAt });
    expect(await orm().em.fork().find(InstructionRevision, { agentId })).toMatchObject([{ createdAt }]);
  });

  test("replaces the oldest of 200", async () => {
    const em = orm().em.fork();
    for (const id of server.agentIds)
      for (let number = 1; number <= 200; number++)
        em.create(InstructionRevision, {
          ...AUTHOR,
          agentId: id,
          number,
          content: String(number),
          contentHash: String(number),
          revertedTo: null,
        });
    await em.flush();
    expect(await store("New")).toBe(201);
    const kept = await revisions();
    expect([kept.length, kept[0]![0], (await revisions(server.agentIds[1])).length]).toEqual([200, 2, 200]);
  });

  test("needs an agent", async () => {
    await expect(store("One", { agentId: server.serverId })).rejects.toMatchObject({ code: "not_found" });
  });

  test("is checked against the current version in the same transaction", async () => {
    await store("One");
    const check = (hash: string): void => {
      if (hash !== sha256Hex("Zero")) throw new Error(`the current hash is ${hash}`);
    };
    const change = { agentId, content: "Two", revertedTo: null, author: AUTHOR };
    await expect(storeRevision(orm().em, change, check)).rejects.toThrow(sha256Hex("One"));
    expect(await revisions()).toHaveLength(1);
  });
});
