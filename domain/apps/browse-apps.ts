import type { Caller } from "../caller.ts";
import { Refusal } from "../errors.ts";
import type { Db } from "../tables.ts";
import { type AppSummary, appSummary, SUMMARY_COLUMNS } from "./app-view.ts";

export interface BrowseDeps {
  db: Db;
  caller: Caller;
  tokenSecret: string;
  urlOf(slug: string): string;
}

export interface AppPage {
  apps: (Omit<AppSummary, "app_token"> & { url: string })[];
  /** Reads on where this page ends; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * The organization's apps a page at a time, newest first, without their tokens: for agents, whose context is no place
 * for a secret. Apps that come or go between two pages are neither repeated nor make others be left out.
 *
 * @throws {Refusal} `invalid` for a cursor that no page gave out
 */
export async function browseApps(
  deps: BrowseDeps,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<AppPage> {
  const after = cursor === undefined ? null : readCursor(cursor);
  const rows = await deps.db
    .selectFrom("apps")
    .select(SUMMARY_COLUMNS)
    .where("org_id", "=", deps.caller.orgId)
    .$if(after !== null, (query) =>
      query.where(({ or, and, eb }) => {
        const { createdAt, id } = after ?? { createdAt: "", id: "" };
        const at = createdAt as never;
        return or([eb("created_at", "<", at), and([eb("created_at", "=", at), eb("id", "<", id)])]);
      }),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const apps = rows.slice(0, limit).map((row) => {
    const { app_token: _secret, ...summary } = appSummary(row, deps.tokenSecret);
    return { ...summary, url: deps.urlOf(row.slug) };
  });
  const last = apps.at(-1);
  return { apps, next_cursor: rows.length > limit && last !== undefined ? cursorAfter(last) : null };
}

function cursorAfter({ created_at, id }: { created_at: string; id: string }): string {
  return Buffer.from(`${created_at} ${id}`).toString("base64url");
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

function readCursor(cursor: string): { createdAt: string; id: string } {
  const [, createdAt, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (createdAt === undefined || id === undefined)
    throw new Refusal(
      "invalid",
      "cursor: pass the next_cursor of an earlier page unchanged, or leave it out to start again.",
    );
  return { createdAt, id };
}
