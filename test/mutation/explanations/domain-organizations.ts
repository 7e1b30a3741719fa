import type { Explanation } from "./explanation.ts";

export const DOMAIN_ORGANIZATIONS: Record<string, Explanation[]> = {
  "domain/organizations/claim-organization.ts": [
    { original: "orgId !== null", reason: "Equivalent: in SQL no organization equals null, so no token expires." },
  ],
  "domain/organizations/create-organization.ts": [
    { original: "plan !== null", reason: "Equivalent but slower: the update sets the default, which is null." },
  ],
  "domain/organizations/first-run.ts": [
    { original: "!(await isFirstRun(db))", reason: "Equivalent but slower: every sign-up acquires the lock." },
    { original: '"first sign-up"', reason: "Equivalent: the lock has one name, whatever it is." },
  ],
};
