import type { Explanation } from "./explanation.ts";

const LOCK = "Not caught: the lock matters only for a worker at the same moment.";
const NAME = "The name of an error, which only the log shows.";
const INDEX_ORDER = "Not caught: PostgreSQL reads the index of app and number, which has this order.";
const MEMORY = "Not caught: the bound limits the memory of readers at different places, and nothing else.";
const CHUNK = "Equivalent: a chunk has at least one event.";
const BOTH_GROUPS = "Equivalent: the expression finds both parts or none.";
const CAUSE = "The cause of an error, which only the log shows.";
const PAUSE = "Equivalent: only the time between two checks differs.";

export const DOMAIN_DEPLOYMENTS: Record<string, Explanation[]> = {
  "domain/deployments/artifacts.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: every text has a first part." },
    { original: "key === null", replacement: "false", reason: "Equivalent but slower: no bundle has the key null." },
    { original: "app?.liveDeploymentId", reason: "Equivalent: an app that is gone has no deployments." },
    { original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }", reason: LOCK },
    {
      original: "built.slice(0, ROLLBACK_TARGETS)",
      replacement: "built",
      reason: "Equivalent: the newest deployments come first, and the others are not kept in any case.",
    },
  ],
  "domain/deployments/remove-old-deployments.ts": [
    { original: "old.length === 0", replacement: "false", reason: "Equivalent but slower: nothing is deleted." },
    { original: '{ number: "asc" }', reason: INDEX_ORDER },
    { original: "app === null || newest === null", reason: "Equivalent: exactly an app has deployments." },
    { original: "app === null", replacement: "false", reason: "Equivalent: exactly an app has deployments." },
    { original: "newest === null", replacement: "false", reason: "Equivalent: exactly an app has deployments." },
  ],
  "domain/deployments/remove-orphans.ts": [
    { original: "{ id: { $in: [...ids] } }", reason: "Equivalent but slower: all apps are read." },
    { original: "{ $in: [...ids] }", reason: "Equivalent but slower: all apps are read." },
    { original: '{ fields: ["id"] }', reason: "Equivalent but slower: all fields are read." },
    { original: '["id"]', reason: "Equivalent: the id is always read." },
  ],
  "domain/deployments/restore-live-script.ts": [
    { original: "served === null", replacement: "false", reason: "Equivalent: null is less than any token." },
  ],
  "domain/deployments/tear-down-app.ts": [
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason: "Not caught: the lock matters only for a teardown at the same moment.",
    },
    { original: '{ fields: ["logKey"] }', reason: "Equivalent but slower: all fields are read." },
  ],
  "domain/deployments/add-deployment.ts": [
    {
      original: "row === undefined",
      replacement: "false",
      reason: "Not caught: the app would have to be deleted between two statements.",
    },
    {
      original: "idempotencyKey === null",
      replacement: "false",
      reason: "Equivalent but slower: no stored key is null.",
    },
    { original: "newest?.number", reason: "Equivalent: every app has a first deployment." },
  ],
  "domain/deployments/cancel-deployment.ts": [
    { original: "Math.min(pauseMs * 2, 250)", reason: PAUSE },
    { original: "pauseMs * 2", reason: PAUSE },
    {
      original: "Date.now() > deadline",
      replacement: "Date.now() >= deadline",
      reason: "Differs for one millisecond.",
    },
    { original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }", reason: LOCK },
  ],
  "domain/deployments/claim-deployment.ts": [
    { original: '"DeploymentIsLeased"', reason: NAME },
    { original: '{ fields: ["appId"] }', reason: "Equivalent but slower: all fields are read." },
    {
      original: "Date.now() - deployment.leaseRenewedAt.getTime() < LEASE_MS",
      reason: "Differs for one millisecond.",
    },
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason: "Not caught: simultaneous claims already wait for the other one of the two locks.",
    },
    {
      original: "deployment === null",
      replacement: "false",
      reason: "Not caught: the deployment would have to be deleted between two statements.",
    },
    {
      original: "deployment.cancelRequestedAt !== undefined",
      reason: "Equivalent: a record that was read has no undefined field.",
    },
  ],
  "domain/deployments/enqueue-deployment.ts": [
    { original: '{ orderBy: { number: "asc" } }', reason: INDEX_ORDER },
    { original: '{ number: "asc" }', reason: INDEX_ORDER },
  ],
  "domain/deployments/finish-deployment.ts": [
    {
      original: '{ $in: statusesBefore("superseded") }',
      reason: "Equivalent: the live deployment of an app always has a status that this one may follow.",
    },
    {
      original: "app.liveDeploymentId",
      replacement: "true",
      reason: "Equivalent but slower: no deployment has the id null.",
    },
  ],
  "domain/deployments/lease.ts": [
    { original: '"LeaseLost"', reason: NAME },
    { original: '"DeploymentCanceled"', reason: NAME },
  ],
  "domain/deployments/list-deployments.ts": [
    { original: "rows.length === 0", replacement: "true", reason: "Equivalent but slower: the app is read too." },
    {
      original: "last !== undefined",
      reason: "Equivalent: a page with another one after it has at least one deployment.",
    },
  ],
  "domain/deployments/deployment-log.ts": [
    {
      original: "this.#timer !== null",
      replacement: "true",
      reason: "Equivalent: an open log always has a timer, and `clearInterval(null)` does nothing.",
    },
    { original: "cut === 0", reason: "Equivalent but slower: an empty text is appended, and the log written again." },
  ],
  "domain/deployments/provision-app.ts": [
    { original: "{ cause: error }", reason: CAUSE },
    { original: "{ cause }", reason: CAUSE },
    { original: '"user"', reason: "Equivalent: only the kind `platform` has an effect." },
  ],
  "domain/deployments/run-deployment.ts": [
    { original: '"RetryDeployment"', reason: NAME },
    { original: "{ cause }", reason: CAUSE },
  ],
  "domain/deployments/run-rollback.ts": [
    { original: "key === null", replacement: "false", reason: "Equivalent: no bundle has the key null." },
    { original: "live?.artifactKey", reason: "Equivalent: an app with a bundle has a live deployment." },
  ],
  "domain/deployments/sweep.ts": [
    { original: '{ fields: ["id"] }', reason: "Equivalent but slower: all fields are read." },
    { original: '["id"]', reason: "Equivalent: the id is always read." },
    { original: "leaseRenewedAt < stalledSince", reason: "Differs for one millisecond." },
  ],
  "domain/deployments/transition-deployment.ts": [
    { original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }", reason: LOCK },
  ],
  "domain/deployments/deployment-log-tail.ts": [
    { original: "this.#chunks.clear();", reason: MEMORY },
    { original: "this.#chunks.size >= MAX_KEPT_CHUNKS", reason: MEMORY },
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: the first read replaces the text." },
    { original: "false", replacement: "true", reason: "Equivalent: the first refresh sets it." },
    { original: "this.#end !== null", replacement: "false", reason: "Equivalent but slower: the log is read again." },
    {
      original: "stored === this.#stored && end === null",
      replacement: "false",
      reason: "Equivalent but slower: readers are notified although nothing has changed.",
    },
    {
      original: "stored !== this.#stored",
      replacement: "true",
      reason: "Equivalent but slower: the log is parsed again.",
    },
  ],
  "domain/deployments/follow-deployment-log.ts": [
    { original: "parseEventId(chunk.at(-1)?.id ?? null)?.position", reason: CHUNK },
    { original: "chunk.at(-1)?.id", reason: CHUNK },
    { original: "[]", replacement: '["Stryker was here"]', reason: "Equivalent: the first element is not read." },
    { original: "number === undefined || position === undefined", reason: BOTH_GROUPS },
    { original: "number === undefined", replacement: "false", reason: BOTH_GROUPS },
    { original: "position === undefined", replacement: "false", reason: BOTH_GROUPS },
  ],
  "domain/deployments/read-log-tail.ts": [
    {
      original: "text.slice(-maxCharacters)",
      reason: "Equivalent but slower: the loop cuts the text in more steps, to a slightly shorter end.",
    },
    {
      original: "JSON.stringify(end).length > maxCharacters",
      reason: "Differs for a text of exactly the maximum length.",
    },
  ],
  "domain/deployments/log-text.ts": [
    {
      original: "this.#tail.length <= HALF",
      reason: "Equivalent: at exactly this length, nothing is dropped either way.",
    },
  ],
};
