import path from "node:path";
import { type CreatedOrganization, createOrganization } from "../../domain/organizations/create-organization.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import type { Orm } from "../database/orm.ts";
import { replaceFile } from "../files/durable-files.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";

/**
 * On an empty database, creates the first organization, its owner and their tokens, and writes them to `bootstrap.json` in
 * the data folder (mode 0600). The file is written before the transaction commits. After a crash in between, the next start
 * creates them again, so there is never an organization whose tokens are lost.
 *
 * @returns `null` when an organization exists
 */
export async function bootstrapOrganization(
  orm: Orm,
  dataDirectory: string,
  plan: string,
): Promise<CreatedOrganization | null> {
  return inTransaction(orm.em, async (em) => {
    if ((await em.count(Organization)) > 0) return null;
    const bootstrapped = await createOrganization(em, { name: "My organization", email: null, plan });
    await replaceFile(path.join(dataDirectory, "bootstrap.json"), `${JSON.stringify(bootstrapped, null, 2)}\n`, 0o600);
    return bootstrapped;
  });
}
