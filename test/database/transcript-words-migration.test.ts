import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { openMigrator } from "../../server/database/migrate.ts";
import { openOrm } from "../../server/database/orm.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { createEmptyDatabase } from "../support/service/test-databases.ts";
import { createHarness } from "../support/service/harness.ts";

const BEFORE = "Migration20261123064454_procedure_search";

/** Creates an organization of the version before, whose agent has a transcript with one entry. */
async function createOldTranscript(databaseUrl: string, content: string) {
  const orm = openOrm(databaseUrl);
  try {
    await (await openMigrator(orm)).up({ to: BEFORE });
    const em = orm.em.fork();
    const organization = await em.transactional((tx) =>
      createOrganization(tx, { name: "First", email: null, plan: "scale" }),
    );
    const id = randomUUID();
    await em.execute(
      `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
       select ?, org_id, server_id, id, 'old', 1, now(), now() from agents where org_id = ?`,
      [id, organization.org_id],
    );
    await em.execute(
      `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
       select id, 1, server_id, 'e1', 'user', ?, now() from sessions`,
      [content],
    );
    return { id, organization };
  } finally {
    await orm.close();
  }
}

test("the words in a path are found in a transcript of an earlier version", async () => {
  await using database = await createEmptyDatabase();
  const { databaseUrl } = database;
  const { id, organization } = await createOldTranscript(databaseUrl, "see src/notes.txt");
  await using harness = await createHarness({ config: { databaseUrl } });
  const rest = new RestClient(harness.service.publicUrl, organization.api_key);
  for (const q of ["notes", "src", "notes.txt"]) {
    const { body } = await rest.get(`/v1/sessions/search?q=${q}`);
    expect([q, body]).toEqual([q, { hits: [expect.objectContaining({ session_id: id, seq: 1 })], next_cursor: null }]);
  }
});
