import { ANSWER_CHARACTERS, fitting } from "../answer-size.ts";
import { Refusal } from "../errors.ts";
import type { OverviewRow, Position } from "./app-overviews.ts";
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
  const apps = fitting(overviews, ANSWER_CHARACTERS - FRAME);
  const last = apps.at(-1);
  return { apps, next_cursor: rows.length > apps.length && last !== undefined ? cursorAfter(last) : null };
}

function cursorAfter({ created_at, id }: AppOverview): string {
  return Buffer.from(`${created_at} ${id}`).toString("base64url");
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** @throws {Refusal} `invalid` for a cursor that no page gave out */
export function readCursor(cursor: string): Position {
  const [, createdAt, id] = CURSOR.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (createdAt === undefined || id === undefined || !isTime(createdAt))
    throw new Refusal(
      "invalid",
      "cursor: pass the next_cursor of an earlier page unchanged, or leave it out to start again.",
    );
  return { createdAt, id };
}

/** Whether it is a time that there is, for databases too: they know no year 0. */
function isTime(timestamp: string): boolean {
  const time = new Date(timestamp);
  return !Number.isNaN(time.getTime()) && time.toISOString() === timestamp && time.getUTCFullYear() > 0;
}
