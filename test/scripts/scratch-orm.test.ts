import { expect, test } from "vitest";
import { openScratchOrm } from "../../scripts/scratch-orm.ts";

test("the migrations make the schema of the entities, and a difference of an index is only this index in both directions", async () => {
  await using scratch = await openScratchOrm();
  const { em, schema } = scratch.orm;
  const difference = async () => {
    const { up, down } = await schema.getUpdateSchemaMigrationSQL({ wrap: false });
    return [up.trim(), down.trim()];
  };
  expect(await difference()).toEqual(["", ""]);
  await em.fork().execute(`drop index "sessions_agent_id_updated_at_id_index"`);
  expect(await difference()).toEqual([
    `create index "sessions_agent_id_updated_at_id_index" on "sessions" ("agent_id", "updated_at", "id");`,
    `drop index "sessions_agent_id_updated_at_id_index";`,
  ]);
});
