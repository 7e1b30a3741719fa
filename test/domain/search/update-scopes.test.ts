import { expect, test } from "vitest";
import { ANALYZER_VERSION } from "../../../domain/search/analyzer.ts";
import { addToIndex, dropScope, removeFromIndex } from "../../../domain/search/index-texts.ts";
import { type ReadTexts, updateScope, updateScopes } from "../../../domain/search/update-scopes.ts";
import { sampleText, TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const db = () => service().service.parts.db;
const em = () => service().service.parts.orm.em.fork();

const textAt = (index: number) => sampleText(`refund word${index}x ${"again ".repeat(index % 7)}`);

/** A scope with its texts, as a module of the service stores them. The worker of the service does not change it. */
class StoredScope extends TestScope {
  readonly texts = new Map<number, ReturnType<typeof textAt>>();
  readonly read: ReadTexts = (_db, _scope, { from, limit }) => {
    const next = [...this.texts].filter(([indexId]) => indexId >= from).slice(0, limit);
    return Promise.resolve(next.map(([indexId, text]) => ({ ...text, indexId })));
  };

  constructor() {
    super(service, { kind: "transcripts" });
  }

  async store(count: number): Promise<void> {
    await this.transact(async (tx) => {
      const added = Array.from({ length: count }, (_, index) => textAt(this.texts.size + index));
      const ids = await addToIndex(tx, this.key, added);
      for (const [index, id] of ids.entries()) this.texts.set(id, added[index]!);
    });
  }

  async remove(...ids: number[]): Promise<void> {
    const removed = ids.map((indexId) => ({ ...this.texts.get(indexId)!, indexId }));
    for (const id of ids) this.texts.delete(id);
    await this.transact((tx) => removeFromIndex(tx, this.key, removed));
  }

  step(): Promise<boolean> {
    return updateScope(db(), this.key, this.read, "wait");
  }

  async finish(): Promise<void> {
    while (await this.step());
  }

  set(column: string, value: unknown): Promise<unknown> {
    return em().execute(`update search_scopes set ${column} = ? where owner_id = ?`, [value, this.key.ownerId]);
  }

  async removeRetired(): Promise<void> {
    await this.set("retired_at", new Date(0));
    await this.finish();
  }

  async countPostings(): Promise<{ set: number; rows: number }[]> {
    const { scope } = await this.readRows();
    return em().execute(
      `select sign(scope_id)::int as set, count(*)::int as rows from search_postings where abs(scope_id) = ? group by 1`,
      [scope!.id],
    );
  }
}

/** Checks that the index is what it would be if all of its texts were added now, whatever their order. */
async function expectExact(scope: StoredScope): Promise<void> {
  const fresh = new TestScope(service, { kind: "transcripts" });
  await fresh.add(...scope.texts.values());
  const [mine, expected] = [await scope.readRows(), await fresh.readRows()];
  const { text_count: textCount, total_length: totalLength } = expected.scope!;
  expect(mine.scope).toMatchObject({ text_count: textCount, total_length: totalLength, rebuild: null });
  expect(mine.scope!.analyzer_version).toBe(ANALYZER_VERSION);
  const countsOf = ({ postings }: typeof mine) => {
    const counts: Record<string, number> = {};
    for (const { term, count, data } of postings) {
      expect(data.length).toBe(4 * count);
      counts[term] = (counts[term] ?? 0) + count;
    }
    return counts;
  };
  expect(countsOf(mine)).toEqual(countsOf(expected));
  const found = await scope.find("refund", { limit: 200 });
  expect(new Set(found).isSubsetOf(new Set(scope.texts.keys()))).toBe(true);
  expect(found).toHaveLength(Math.min(200, scope.texts.size));
}

test("an index of an older analyzer is built again in steps, and meanwhile searches find what it has", async () => {
  const scope = new StoredScope();
  await scope.store(450);
  await scope.makeOld();
  for (let step = 0; step < 2; step++) {
    expect(await scope.step()).toBe(true);
    expect(await scope.find("oldrefund")).toHaveLength(50);
    expect(await scope.find("refund")).toEqual([]);
  }
  expect(await scope.step()).toBe(false);
  expect(await scope.find("oldrefund")).toEqual([]);
  await expectExact(scope);
});

test("the postings of the older analyzer stay for the searches that read them, and are removed a minute later", async () => {
  const scope = new StoredScope();
  await scope.store(10);
  await scope.makeOld();
  await scope.finish();
  expect((await scope.countPostings()).map(({ set }) => set).toSorted()).toEqual([-1, 1]);
  await updateScopes(db(), { transcripts: scope.read }, { signal: new AbortController().signal, report: fail });
  expect(await scope.countPostings()).toHaveLength(2);
  await scope.removeRetired();
  expect((await scope.countPostings()).map(({ set }) => set)).toEqual([-1]);
  await expectExact(scope);
  await scope.makeOld();
  await scope.finish();
  await scope.removeRetired();
  expect((await scope.countPostings()).map(({ set }) => set)).toEqual([1]);
  await expectExact(scope);
});

test("a large set of postings is removed in steps of 5,000", async () => {
  const scope = new StoredScope();
  await scope.store(10);
  await scope.makeOld();
  await scope.finish();
  const { scope: row } = await scope.readRows();
  const retired = (await scope.countPostings()).find(({ set }) => set === 1)!;
  await em().execute(
    `insert into search_postings (scope_id, term, block, count, data)
     select ?::int, 'retired' || number, 0, 1, decode('00000000', 'hex') from generate_series(1, ?::int) as number`,
    [row!.id, 5000 - retired.rows],
  );
  await scope.set("retired_at", new Date(0));
  expect(await scope.step()).toBe(true);
  expect((await scope.countPostings()).map(({ set }) => set)).toEqual([-1]);
  expect((await scope.readRows()).scope!.retired_at).not.toBeNull();
  expect([await scope.step(), await scope.step()]).toEqual([true, false]);
  expect((await scope.readRows()).scope!.retired_at).toBeNull();
});

/** Counts the statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await em().execute<{ count: number }[]>(
    `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  return row!.count;
}

test("a scope that is being written is skipped on request, and otherwise built when it is written", async () => {
  const scope = new StoredScope();
  await scope.store(1);
  await scope.makeOld();
  const [waiting] = await scope.transact(async (tx) => {
    await addToIndex(tx, scope.key, [textAt(1)]);
    expect(await updateScope(db(), scope.key, scope.read, "skip")).toBe(false);
    await updateScopes(db(), { transcripts: scope.read }, { signal: new AbortController().signal, report: fail });
    const step = scope.step();
    await expect.poll(countWaiting).toBe(1);
    scope.texts.set(1, textAt(1));
    return [step];
  });
  expect(await waiting).toBe(false);
  await expectExact(scope);
});

test("texts that are added and removed while an index is built again are in it and not in it", async () => {
  const scope = new StoredScope();
  await scope.store(450);
  await scope.makeOld();
  await scope.step();
  await scope.store(30);
  await scope.remove(5, 199, 200, 449, 460);
  await scope.step();
  await scope.remove(6, 300, 399, 400, 479);
  await scope.finish();
  await expectExact(scope);
  await scope.remove(7);
  await scope.store(1);
  await expectExact(scope);
});

test.each([1, 200, 400])("an index of %i texts is built again", async (count) => {
  const scope = new StoredScope();
  await scope.store(count + 1);
  await scope.remove(0);
  await scope.makeOld();
  await scope.finish();
  await expectExact(scope);
});

test("an index without texts is brought up to date", async () => {
  const scope = new StoredScope();
  await scope.store(1);
  await scope.remove(0);
  await scope.makeOld();
  expect(await scope.step()).toBe(false);
  const { scope: row } = await scope.readRows();
  expect(row).toMatchObject({ text_count: 0, analyzer_version: ANALYZER_VERSION, rebuild: null });
});

test("two processes that build while others write leave an exact index", async () => {
  const scope = new StoredScope();
  await scope.store(900);
  await scope.makeOld();
  const build = () =>
    updateScopes(db(), { transcripts: scope.read }, { signal: new AbortController().signal, report: fail });
  const write = async (first: number) => {
    for (let at = 0; at < 5; at++) {
      await scope.remove(first + 100 * at);
      await scope.store(3);
    }
  };
  await Promise.all([build(), scope.finish(), build(), scope.finish(), write(1), write(2)]);
  await scope.finish();
  await expectExact(scope);
});

test("what a process with an older analyzer writes is built again, and a newer index is left as it is", async () => {
  const scope = new StoredScope();
  await scope.store(2);
  await scope.set("analyzer_version", ANALYZER_VERSION + 1);
  expect(await scope.step()).toBe(false);
  expect((await scope.readRows()).scope).toMatchObject({ analyzer_version: ANALYZER_VERSION + 1, postings_set: 0 });
  await scope.store(1);
  expect((await scope.readRows()).scope).toMatchObject({ analyzer_version: ANALYZER_VERSION });
  await scope.set("analyzer_version", ANALYZER_VERSION + 1);
  await scope.remove(0);
  expect((await scope.readRows()).scope).toMatchObject({ analyzer_version: ANALYZER_VERSION });
});

test("what an older process has begun to build is built from the start, and what a newer one builds is left to it", async () => {
  const scope = new StoredScope();
  await scope.store(250);
  await scope.makeOld();
  await scope.step();
  const setVersion = (version: number) =>
    em().execute(`update search_scopes set rebuild = rebuild || ?::jsonb where owner_id = ?`, [
      JSON.stringify({ version }),
      scope.key.ownerId,
    ]);
  await setVersion(ANALYZER_VERSION + 1);
  expect(await scope.step()).toBe(false);
  await scope.remove(3);
  expect((await scope.readRows()).scope).toMatchObject({ rebuild: { version: ANALYZER_VERSION, nextIndexId: 200 } });
  await setVersion(ANALYZER_VERSION - 1);
  await scope.finish();
  await expectExact(scope);
});

test("a scope that is removed while it is built again leaves nothing", async () => {
  const scope = new StoredScope();
  await scope.store(250);
  await scope.makeOld();
  await scope.step();
  const { scope: row } = await scope.readRows();
  await scope.transact((tx) => dropScope(tx, scope.key));
  expect(await scope.step()).toBe(false);
  expect(await em().execute("select * from search_postings where abs(scope_id) = ?", [row!.id])).toEqual([]);
});

test("a scope whose texts cannot be read is reported, and others are built; an abort stops between two steps", async () => {
  const [broken, scope] = [new StoredScope(), new StoredScope()];
  await broken.store(1);
  await scope.store(450);
  await broken.makeOld();
  await scope.makeOld();
  const reported: unknown[] = [];
  const abort = new AbortController();
  const update = () =>
    updateScopes(
      db(),
      {
        transcripts: (tx, key, range) => {
          if (key.ownerId === broken.key.ownerId) throw new Error("unreadable");
          if (range.from > 0) abort.abort();
          return scope.read(tx, key, range);
        },
      },
      { signal: abort.signal, report: (error) => reported.push(error) },
    );
  await update();
  expect(reported).toEqual([expect.objectContaining({ message: "unreadable" })]);
  expect((await scope.readRows()).scope).toMatchObject({ analyzer_version: 0, rebuild: { nextIndexId: 400 } });
  await scope.finish();
  await expectExact(scope);
  await broken.finish();
});

function fail(error: unknown): never {
  throw error;
}
