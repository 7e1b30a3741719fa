import { type App, isChanging } from "../../apps-query.ts";
import { readSearchText } from "../../search-params.ts";

export const STATUS_OPTIONS = [
  ["", "All statuses"],
  ["in-progress", "In progress"],
  ["ready", "Ready"],
  ["failed", "Failed"],
  ["canceled", "Canceled"],
] as const;

export const SORT_OPTIONS = [
  ["", "Newest first"],
  ["updated", "Last changed first"],
  ["name", "By name"],
] as const;

/** What the list of apps shows. An empty text does not filter. */
export interface AppFilter {
  /** A part of the name, the repository or the URL. */
  q: string;
  status: (typeof STATUS_OPTIONS)[number][0];
  framework: string;
  sort: (typeof SORT_OPTIONS)[number][0];
}

/** Reads the filter from the query of the URL, where unknown values do not filter. */
export function readAppFilter(search: Readonly<Record<string, unknown>>): AppFilter {
  const choose = <Value extends string>(value: unknown, options: readonly (readonly [Value, string])[]) =>
    options.find(([option]) => option === value)?.[0];
  return {
    q: readSearchText(search, "q"),
    status: choose(search["status"], STATUS_OPTIONS) ?? "",
    framework: readSearchText(search, "framework"),
    sort: choose(search["sort"], SORT_OPTIONS) ?? "",
  };
}

const COMPARISONS: Readonly<Record<AppFilter["sort"], ((left: App, right: App) => number) | null>> = {
  // As the service returns them.
  "": null,
  updated: (left, right) => (left.updated_at < right.updated_at ? 1 : -1),
  name: (left, right) => left.name.localeCompare(right.name),
};

export function filterApps(apps: readonly App[], { q, status, framework, sort }: AppFilter): readonly App[] {
  const wanted = q.trim().toLowerCase();
  const found = apps.filter(
    (app) =>
      (wanted === "" ||
        [app.name, app.repo ?? "", app.slug, app.url].some((text) => text.toLowerCase().includes(wanted))) &&
      (status === "" || (status === "in-progress" ? isChanging(app.status) : app.status === status)) &&
      (framework === "" || app.framework === framework),
  );
  const compare = COMPARISONS[sort];
  return compare === null ? found : found.toSorted(compare);
}
