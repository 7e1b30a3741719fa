import type { Explanation } from "./explanation.ts";

const NO_SUCH_ID = "Equivalent: no id has this value.";
const UNDEFINED_IS_NOT_LATER = "Equivalent: a comparison with `undefined` is false.";

export const DOMAIN_AUDIT: Record<string, Explanation[]> = {
  "domain/audit/find-names.ts": [
    { original: "orgId === null", reason: "Equivalent but slower: in SQL no organization equals null." },
    {
      original: '[...names].filter(([, { kind }]) => kind === "invitation")',
      reason: "Equivalent: no other object has the id of an invitation.",
    },
    { original: 'kind === "invitation"', reason: "Equivalent: no other object has the id of an invitation." },
  ],
  "domain/audit/list-events.ts": [
    { original: '""', reason: NO_SUCH_ID },
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has at least one event." },
    {
      original: "[...rows.map(({ user_id }) => user_id), ...targets].filter((id) => id !== null)",
      reason: "Equivalent: in SQL no user equals null.",
    },
    { original: "id !== null", reason: "Equivalent: in SQL no user equals null." },
    {
      original: 'target_kind === "user"',
      replacement: "true",
      reason: "Equivalent: no other object has the id of a user.",
    },
  ],
  "domain/audit/record-event.ts": [{ original: '""', reason: NO_SUCH_ID }],
  "domain/audit/select-events.ts": [
    { original: '""', reason: "Never evaluated: the condition applies only with a user." },
  ],
  "domain/audit/time-range.ts": [
    { original: "range.from !== undefined && range.to !== undefined", reason: UNDEFINED_IS_NOT_LATER },
    { original: "range.from !== undefined", reason: UNDEFINED_IS_NOT_LATER },
    { original: "range.to !== undefined", reason: UNDEFINED_IS_NOT_LATER },
    { original: "utc < YEAR_1", replacement: "utc <= YEAR_1", reason: "Equivalent: a time is longer than its year." },
  ],
};
