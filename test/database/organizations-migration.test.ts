import { expect, test } from "vitest";
import { openMigrator } from "../../server/database/migrate.ts";
import { openOrm } from "../../server/database/orm.ts";
import { createEmptyDatabase } from "../support/service/test-databases.ts";

const LAST_BEFORE_USERS = "Migration20261121005230_procedures";
const [FIRST, SECOND] = ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e", "1b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"];
const [OWNER, OTHER] = ["2b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e", "3b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"];

test("the migration to users keeps the plans and tokens of organizations, and gives each a placeholder owner", async () => {
  await using database = await createEmptyDatabase();
  const orm = openOrm(database.databaseUrl);
  try {
    const migrator = await openMigrator(orm);
    await migrator.up({ to: LAST_BEFORE_USERS });
    const em = orm.em.fork();
    await em.execute(
      `insert into organizations (id, name, plan, owner_id, owner_email, created_at) values
       ('${FIRST}', 'My organization', 'free', '${OWNER}', 'owner@localhost.localdomain', now() - interval '1 day'),
       ('${SECOND}', 'Acme', 'team', '${OTHER}', 'ada@example.com', now())`,
    );
    await em.execute(
      `insert into machine_tokens (id, kind, token_sha256, prefix, name, org_id, user_id, created_at)
       values (gen_random_uuid(), 'api_key', 'x', 'svk_x', 'old', '${SECOND}', '${OTHER}', now())`,
    );
    await migrator.up();
    const rows: unknown = await em.execute(
      `select o.id, o.plan, a.name, m.role, u.id as owner, u.email, t.scope from organizations o
       join auth.organization a on a.id = o.id join auth.member m on m."organizationId" = o.id
       join auth."user" u on u.id = m."userId" left join machine_tokens t on t.org_id = o.id order by o.id`,
    );
    expect(rows).toEqual([
      {
        id: FIRST,
        plan: "free",
        name: "My organization",
        role: "owner",
        scope: null,
        owner: OWNER,
        email: "owner@localhost.localdomain",
      },
      {
        id: SECOND,
        plan: "team",
        name: "Acme",
        role: "owner",
        scope: "everything",
        owner: OTHER,
        email: `${SECOND}@placeholder.invalid`,
      },
    ]);
  } finally {
    await orm.close();
  }
});
