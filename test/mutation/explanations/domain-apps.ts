import type { Explanation } from "./explanation.ts";

export const DOMAIN_APPS: Record<string, Explanation[]> = {
  "domain/apps/app-list-versions.ts": [
    { original: '"none"', reason: "Equivalent: any text that is not a number is another version." },
    {
      original: "{ cache: false, batchScheduleFn: setImmediate, }",
      reason: "Equivalent but larger: the keys are objects, so a cache finds none of them, and only grows.",
    },
    {
      original: "false",
      replacement: "true",
      reason: "Equivalent but larger: the keys are objects, so a cache finds none of them, and only grows.",
    },
    {
      original: "versionsByCount.get(count)?.get",
      reason: "Equivalent: the map has an entry for every count that was requested.",
    },
  ],
  "domain/apps/app-page.ts": [
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has at least one app." },
  ],
  "domain/apps/delete-app.ts": [
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason: "Not caught: the lock only makes simultaneous deletions of one app wait for each other.",
    },
    { original: "Date.now() < deadline", reason: "Differs for one millisecond." },
    { original: "Math.min(pauseMs * 2, 250)", reason: "Equivalent: only the time between two checks differs." },
    { original: "pauseMs * 2", reason: "Equivalent: only the time between two checks differs." },
  ],
  "domain/apps/deploy-app.ts": [
    { original: "key === null", replacement: "false", reason: "Equivalent but slower: no stored key is null." },
  ],
  "domain/apps/repository-rules.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: a repository has two parts." },
  ],
  "domain/apps/sync-auth-entry.ts": [
    {
      original: "writtenVersion !== null",
      replacement: "true",
      reason: "Not caught: the entry of an app that gets none is removed by its teardown as well.",
    },
    { original: '{ fields: ["id", "tokenVersion"] }', reason: "Equivalent but slower: all columns are read." },
    { original: "() => null", reason: "Equivalent: only the token of an entry is read." },
  ],
  "domain/apps/slug.ts": [
    { original: "/^-+|-+$/g", reason: "Equivalent: there are never two hyphens in a row at this point." },
  ],
};
