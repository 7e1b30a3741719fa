import { expect, test } from "vitest";
import { givenSession, sampleEntries } from "../support/service/given-session.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ worker: true });

test("a worker merges the words of new entries into the index of the search", async () => {
  const { rest } = await service().tenant();
  const merge = async () => {
    const [row] = await service().service.parts.orm.em.execute(
      "select gin_clean_pending_list('session_entries_words_index') as pages",
    );
    return Number(row!["pages"]);
  };
  await waitFor(async () => {
    await givenSession(rest, { entries: sampleEntries(1) });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await merge()).toBe(0);
  });
});
