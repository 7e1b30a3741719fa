import type { Db } from "../database-types.ts";
import type { Plans } from "../plans/plans.ts";
import type { TokenUsage } from "../ports/app-builder-agent.ts";
import { BuildFailure } from "../shared/errors.ts";
import { addCounts } from "./usage-counter.ts";
import { periodOf } from "./usage-period.ts";

const METRIC = "builder_tokens";

export interface TokenQuotaDeps {
  db: Db;
  plans: Plans;
}

/** How many tokens the app builder agent has used for an organization in this month. */
async function countBuilderTokens(db: Db, orgId: string): Promise<number> {
  const row = await db
    .selectFrom("usage_counts")
    .select("count")
    .where("org_id", "=", orgId)
    .where("period", "=", periodOf(new Date()))
    .where("metric", "=", METRIC)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/**
 * Returns how many tokens the organization may still use in this month.
 *
 * @throws {BuildFailure} `user` when there are none left
 */
export async function remainingBuilderTokens({ db, plans }: TokenQuotaDeps, orgId: string): Promise<number> {
  const { plan } = await db
    .selectFrom("organizations")
    .select("plan")
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  const { builderTokens } = plans.getLimits(plan);
  const remaining = builderTokens - (await countBuilderTokens(db, orgId));
  if (remaining > 0) return remaining;
  throw new BuildFailure(
    "user",
    `The organization has used its ${builderTokens} tokens of the app builder agent for this month.`,
    "Deploy without a new customization, or wait for the next month. The operator can raise the limit of the plan.",
  );
}

/** Counts tokens at once, so that those of an interrupted deployment count too. */
export async function countTokens(db: Db, orgId: string, { inputTokens, outputTokens }: TokenUsage): Promise<void> {
  const count = inputTokens + outputTokens;
  if (count === 0) return;
  await addCounts(db, [{ org_id: orgId, period: periodOf(new Date()), metric: METRIC, subject_id: orgId, count }]);
}
