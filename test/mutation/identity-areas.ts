import type { MutationArea } from "./mutation-area.ts";

const RULES = [
  "server/identity/{auth-call,authorization-error,authorization-error-page,client-id-url,client-metadata}.ts",
  "server/identity/{client-registration-rules,date-columns,default-resource,ignored-dpop,internet-reachability}.ts",
  "server/identity/{invitation-link,is-error-response,metadata-fetch-limiter,private-use-redirects,protected-resource-metadata}.ts",
  "server/identity/{token-request-client,validate-auth-input}.ts",
];

const ORGANIZATIONS = [
  "server/identity/{audit-from-call,consented-organization,current-transaction,record-connection}.ts",
  "server/identity/{redact-organization,side-effects,sign-up-policy}.ts",
];

const IDENTITY = "server/identity/identity.ts";

/** The areas of server/identity: most tests of its endpoints start a service. */
export const IDENTITY_AREAS: MutationArea[] = [
  {
    name: "server/identity, rules",
    sources: RULES,
    tests: [
      "test/identity/{auth-requests,authorization-error-texts,client-rules,redirect-schemes}.test.ts",
      "test/identity/{internet-reachability,metadata-fetch-limiter}.test.ts",
    ],
  },
  {
    name: "server/identity, organizations",
    sources: ORGANIZATIONS,
    tests: [
      "test/identity/{audit-events,audit-from-call,chosen-organization,connected-clients}.test.ts",
      "test/identity/{consented-organization,invitation-links,invitations-and-roles,other-organizations}.test.ts",
      "test/identity/{record-connection,redact-organization,side-effects,sign-up,sign-up-policy}.test.ts",
      "test/rest/{audit,audit-names}.test.ts",
    ],
    testTimeoutMs: 15_000,
    loadedLate: IDENTITY,
  },
  {
    name: "server/identity",
    sources: ["server/identity/*.ts"],
    except: [...RULES, ...ORGANIZATIONS],
    tests: [
      "test/identity/{auth-requests,client-metadata-storage,consented-organization,identity-flows}.test.ts",
      "test/identity/{identity-hooks,identity-options,identity-plugin,refresh-lock}.test.ts",
    ],
    testTimeoutMs: 15_000,
    loadedLate: IDENTITY,
  },
];
