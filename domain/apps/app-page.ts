import { encodeCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { appOutline, type AppSummary, type SummaryRow } from "./app-view.ts";

/** A row of the query that reads a page. */
export type OverviewRow = SummaryRow & { procedure_count: number | string | bigint | null };

export interface AppOverview extends Omit<AppSummary, "app_token"> {
  url: string;
  /** The number of the app's procedures that can be called now. */
  procedure_count: number;
}

export interface AppPage {
  apps: AppOverview[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** The characters of a page without its apps. */
const ENVELOPE_CHARACTERS = 300;

/**
 * Creates a page of at most `limit` apps, within the size limit of a response.
 *
 * @param rows - `limit + 1` rows if there are more apps than `limit`
 */
export function createAppPage(
  rows: readonly OverviewRow[],
  { limit, urlOf }: { limit: number; urlOf(slug: string): string },
): AppPage {
  const overviews = rows.slice(0, limit).map((row) => ({
    ...appOutline(row),
    url: urlOf(row.slug),
    procedure_count: Number(row.procedure_count),
  }));
  const apps = takeWithinBudget(overviews, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS);
  const last = apps.at(-1);
  return { apps, next_cursor: rows.length > apps.length && last !== undefined ? encodeCursor(last) : null };
}
