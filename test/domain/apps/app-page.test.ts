import { expect, test } from "vitest";
import { createAppPage, type OverviewRow } from "../../../domain/apps/app-page.ts";

const rowOf = (at: number): OverviewRow => ({
  id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
  name: "demo",
  slug: `demo-${at}`,
  environment: null,
  parent_id: null,
  status: "ready",
  status_message: null,
  storage_problem: null,
  runtime: "worker",
  token_version: 1,
  created_at: new Date(at),
  updated_at: new Date(at),
  procedure_count: "3",
});

test("a page of small apps, with everything around them, stays within 24,000 characters and is well used", () => {
  const rows = Array.from({ length: 500 }, (_, at) => rowOf(at));
  const page = createAppPage(rows, { limit: 499, urlOf: (slug) => `https://${slug}.example.com` });
  const length = JSON.stringify(page).length;
  expect(length).toBeLessThanOrEqual(24_000);
  expect(length).toBeGreaterThan(23_000);
  expect(page.next_cursor).not.toBeNull();
  expect(page.apps[7]).toEqual({
    id: rows[7]?.id,
    name: "demo",
    slug: "demo-7",
    environment: null,
    parent_id: null,
    status: "ready",
    status_message: null,
    runtime: "worker",
    created_at: "1970-01-01T00:00:00.007Z",
    updated_at: "1970-01-01T00:00:00.007Z",
    url: "https://demo-7.example.com",
    procedure_count: 3,
  });
});

test("an app that stores too much says so, unless it is being deleted", () => {
  const stored = { ...rowOf(1), status_message: "Of the newest deployment.", storage_problem: "The app is stopped." };
  const messageOf = (row: OverviewRow) => createAppPage([row], { limit: 1, urlOf: String }).apps[0]?.status_message;
  expect(messageOf(stored)).toBe("The app is stopped.");
  const teardown = "The app is being torn down.";
  expect(messageOf({ ...stored, status: "deleting", status_message: teardown })).toBe(teardown);
});

test("an empty list and the last page have no cursor", () => {
  const urlOf = (slug: string) => slug;
  expect(createAppPage([], { limit: 1, urlOf })).toEqual({ apps: [], next_cursor: null });
  const last = createAppPage([rowOf(1), rowOf(2)], { limit: 2, urlOf });
  expect([last.apps.length, last.next_cursor]).toEqual([2, null]);
  const first = createAppPage([rowOf(1), rowOf(2)], { limit: 1, urlOf });
  expect([first.apps.length, first.next_cursor]).toEqual([1, expect.any(String)]);
});
