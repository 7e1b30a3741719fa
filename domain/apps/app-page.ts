import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { cursorAfter } from "../shared/keyset-cursor.ts";
import type { OverviewRow } from "./app-list-queries.ts";
import { appOutline, type AppSummary } from "./app-view.ts";

export interface AppOverview extends Omit<AppSummary, "app_token"> {
  url: string;
  /** How many procedures of it can be called now. */
  procedure_count: number;
}

export interface AppPage {
  apps: AppOverview[];
  /** Reads on where this page ends; `null` on the last page. */
  next_cursor: string | null;
}

/** What a page holds beside its apps, in characters. */
const FRAME = 300;

/**
 * A page of `limit` apps at most, and not too long.
 *
 * @param rows - one more than `limit` when there are more
 */
export function pageOf(
  rows: readonly OverviewRow[],
  { limit, urlOf }: { limit: number; urlOf(slug: string): string },
): AppPage {
  const overviews = rows.slice(0, limit).map((row) => ({
    ...appOutline(row),
    url: urlOf(row.slug),
    procedure_count: Number(row.procedure_count),
  }));
  const apps = takeWithinBudget(overviews, RESPONSE_CHARACTERS - FRAME);
  const last = apps.at(-1);
  return { apps, next_cursor: rows.length > apps.length && last !== undefined ? cursorAfter(last) : null };
}
