import { expect, test, vi } from "vitest";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ worker: true });

test("a worker merges the words of new entries into the index of the search", async () => {
  const { rest } = await service().tenant();
  const merge = async () => {
    const [row] = await service().service.parts.orm.em.execute(
      "select gin_clean_pending_list('session_entries_words_index') as pages",
    );
    return Number(row!["pages"]);
  };
  await vi.waitFor(
    async () => {
      await givenSession(rest, { entries: sampleEntries(1) });
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(await merge()).toBe(0);
    },
    { timeout: 60_000 },
  );
});
