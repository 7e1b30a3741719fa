import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type AgentWorkspaces, WorkspaceInUse } from "../../domain/ports/agent-workspaces.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NEVER = new AbortController().signal;

export interface WorkspacesSetting extends AsyncDisposable {
  /** As two processes open them. `clear` of the second one waits a short time only. */
  one: AgentWorkspaces;
  other: AgentWorkspaces;
}

async function givenAgent(setting: WorkspacesSetting) {
  const temporary = await temporaryFolder();
  const id = { orgId: randomUUID(), agentId: randomUUID() };
  /** Replaces the files, as a program does. */
  const save = async (files: Record<string, string | Buffer>, workspaces = setting.one) => {
    const folder = path.join(temporary.path, randomUUID());
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    const saved = await workspaces.open(id, { readOnly: false, signal: NEVER }, (opened) => opened.save(folder));
    expect(saved).toEqual({ problem: null, omitted: 0 });
    return folder;
  };
  const readAll = async (workspaces = setting.one, readOnly = true) => {
    const parts = await workspaces.open(id, { readOnly, signal: NEVER }, (opened) => Array.fromAsync(opened.read()));
    return Buffer.concat(parts);
  };
  const listPaths = async (workspaces = setting.one) => (await workspaces.list(id)).files.map((file) => file.path);
  return { ...temporary, id, save, readAll, listPaths };
}

/** The contract of every `AgentWorkspaces`. */
export function agentWorkspacesContract(driver: string, setting: () => WorkspacesSetting): void {
  describe(`the workspaces of agents (${driver})`, () => {
    const given = () => givenAgent(setting());

    test("what is read is the index and the contents in its order, also of files of several megabytes", async () => {
      await using agent = await given();
      const large = randomBytes(3_000_000);
      await agent.save({ "b/large": large, a: "A", c: "" });
      for (const readOnly of [true, false]) {
        const all = await agent.readAll(setting().other, readOnly);
        const end = all.indexOf(10);
        expect(JSON.parse(all.subarray(0, end).toString())).toEqual([
          ["a", 1, expect.any(Number)],
          ["b", null, 0],
          ["b/large", 3_000_000, expect.any(Number)],
          ["c", 0, expect.any(Number)],
        ]);
        expect(all.subarray(end + 1).equals(Buffer.concat([Buffer.from("A"), large]))).toBe(true);
      }
      const read = (offset: number, length: number) => setting().one.readFile(agent.id, "b/large", { offset, length });
      expect(Buffer.from((await read(2_999_990, 100))?.bytes ?? []).equals(large.subarray(2_999_990))).toBe(true);
      expect(Buffer.from((await read(262_000, 1000))?.bytes ?? []).equals(large.subarray(262_000, 263_000))).toBe(true);
      expect((await read(3_000_000, 10))?.bytes).toHaveLength(0);
    });

    test("files and folders are removed, and the others stay readable", async () => {
      await using agent = await given();
      const { one } = setting();
      const large = randomBytes(1_500_000);
      await agent.save({ a: "A", "b/c": "C", "b/d/e": large, bc: "BC", "z/large": large });
      expect(await one.clear(agent.id, "b")).toBe(2);
      expect(await one.clear(agent.id, "b")).toBeNull();
      expect(await agent.listPaths(setting().other)).toEqual(["a", "bc", "z/large"]);
      const part = await one.readFile(agent.id, "z/large", { offset: 0, length: 2_000_000 });
      expect(Buffer.from(part?.bytes ?? []).equals(large)).toBe(true);
      expect(await one.clear(agent.id, null)).toBe(3);
      expect(await one.list(agent.id)).toEqual({ files: [], folders: 0 });
      expect(await one.clear(agent.id, null)).toBe(0);
    });

    test("programs of one agent run one after the other, also in two processes, and no change is lost", async () => {
      await using agent = await given();
      const folder = path.join(agent.path, "counter");
      await mkdir(folder);
      let running = 0;
      const increment = (workspaces: AgentWorkspaces) =>
        workspaces.open(agent.id, { readOnly: false, signal: NEVER }, async (opened) => {
          expect(++running).toBe(1);
          const all = Buffer.concat(await Array.fromAsync(opened.read())).toString();
          const count = Number(all.slice(all.indexOf("\n") + 1)) + 1;
          await writeFile(path.join(folder, "count"), String(count));
          expect(await opened.save(folder)).toEqual({ problem: null, omitted: 0 });
          running--;
        });
      const { one, other } = setting();
      await Promise.all([one, other, one, other, one, other].map(increment));
      const part = await other.readFile(agent.id, "count", { offset: 0, length: 10 });
      expect(Buffer.from(part?.bytes ?? []).toString()).toBe("6");
    });

    test("a workspace that a program uses in one process is not cleared by another, and its files stay readable", async () => {
      await using agent = await given();
      await agent.save({ a: "A" });
      const [started, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { one, other } = setting();
      const running = one.open(agent.id, { readOnly: false, signal: NEVER }, () => {
        started.resolve();
        return proceed.promise;
      });
      await started.promise;
      await expect(other.clear(agent.id, null)).rejects.toThrow(WorkspaceInUse);
      const reason = new Error("enough");
      const waiting = other.open(agent.id, { readOnly: false, signal: AbortSignal.abort(reason) }, async () => null);
      await expect(waiting).rejects.toBe(reason);
      expect(await agent.listPaths(other)).toEqual(["a"]);
      expect((await agent.readAll(other)).toString()).toContain("A");
      proceed.resolve();
      await running;
      expect(await other.clear(agent.id, "a")).toBe(1);
    });

    test("a program that reads the files gets all of those before a change or all of those after it", async () => {
      await using agent = await given();
      const content = (version: number) => Buffer.alloc(700_000, version);
      await agent.save({ a: content(1), b: content(1) });
      const reads: Promise<Buffer>[] = [];
      for (let version = 2; version < 6; version++) {
        reads.push(agent.readAll(setting().other), agent.readAll(setting().other));
        await agent.save({ a: content(version), b: content(version) });
      }
      for (const all of await Promise.all(reads)) {
        const contents = all.subarray(all.indexOf(10) + 1);
        expect(contents.equals(Buffer.alloc(1_400_000, contents[0]))).toBe(true);
      }
    });

    test("a program that runs while its workspace is removed cannot save it, and a program of a later call can", async () => {
      await using agent = await given();
      const { one, other } = setting();
      const folder = await agent.save({ a: "A" });
      const saved = await one.open(agent.id, { readOnly: false, signal: NEVER }, async (opened) => {
        await other.remove(agent.id);
        await writeFile(path.join(folder, "b"), "B");
        return await opened.save(folder);
      });
      expect(saved).toEqual({ problem: "The agent was deleted.", omitted: 0 });
      expect(await one.listAll()).not.toContainEqual(agent.id);
      await other.remove(agent.id);
      await agent.save({ a: "A" });
      expect(await one.listAll()).toContainEqual(agent.id);
    });

    test("an organization's workspaces are measured together", async () => {
      await using agent = await given();
      const { one } = setting();
      expect(await one.measure(agent.id.orgId)).toBe(0);
      await agent.save({ a: "A".repeat(5000) });
      const size = await one.measure(agent.id.orgId);
      expect([size > 5000, size < 5500]).toEqual([true, true]);
      expect(await one.measure(randomUUID())).toBe(0);
      await agent.save({});
      expect(await one.measure(agent.id.orgId)).toBe(0);
    });

    test("an id that is not a UUID never becomes a path", async () => {
      await using agent = await given();
      const { one } = setting();
      for (const agentId of ["..", "../../x", "", "x/y"])
        await expect(one.list({ orgId: agent.id.orgId, agentId })).rejects.toThrow("UUID");
    });
  });
}
