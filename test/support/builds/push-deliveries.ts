import { createHmac } from "node:crypto";

/** A push, of which `givenDelivery` makes what a git host sends. */
export interface GivenPush {
  repo?: string;
  ref?: string;
  before?: string;
  /** Zeros for a deleted branch. */
  commit: string;
  message?: string;
  added?: string[];
  modified?: string[];
  removed?: string[];
  forced?: boolean;
  /** How many commits the push has; more than one are not all listed. */
  total?: number;
}

export interface GivenDelivery {
  headers: Record<string, string>;
  body: string;
}

export type HostFormat = "github" | "gitlab" | "gitea" | "bitbucket";

const NONE = "0".repeat(40);

/** Makes a delivery in the format that the git host documents, with the signature that it makes with the secret. */
export function givenDelivery(format: HostFormat, secret: string, id: string, push: GivenPush): GivenDelivery {
  const body = JSON.stringify(BODIES[format](push, id));
  return { body, headers: { "content-type": "application/json", ...sign(format, secret, id, body) } };
}

/** What GitHub sends with its default content type of webhooks. */
export function asForm({ body }: GivenDelivery, secret: string, id: string): GivenDelivery {
  const form = new URLSearchParams({ payload: body }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", ...sign("github", secret, id, form) };
  return { headers, body: form };
}

export function sign(format: HostFormat, secret: string, id: string, body: string): Record<string, string> {
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  switch (format) {
    case "github":
      return { "x-github-event": "push", "x-github-delivery": id, "x-hub-signature-256": `sha256=${digest}` };
    case "gitlab":
      return {
        "x-gitlab-event": "Push Hook",
        "x-gitlab-event-uuid": id,
        "idempotency-key": id,
        "x-gitlab-token": secret,
      };
    case "gitea":
      return {
        "x-gitea-event": "push",
        "x-gitea-delivery": id,
        "x-gitea-signature": digest,
        "x-github-event": "push",
        "x-github-delivery": id,
        "x-hub-signature-256": `sha256=${digest}`,
      };
    case "bitbucket":
      return { "x-event-key": "repo:push", "x-request-uuid": id, "x-hub-signature": `sha256=${digest}` };
  }
}

function commitsOf({ commit, message = "Change the page", added = [], modified = [], removed = [] }: GivenPush) {
  const author = { name: "Ada", email: "ada@example.com", username: "ada" };
  if (commit === NONE) return [];
  return [{ id: commit, message, timestamp: "2026-11-27T10:00:00Z", author, added, modified, removed }];
}

const BODIES: Record<HostFormat, (push: GivenPush, id: string) => object> = {
  github: (push, id) => ({
    ref: push.ref ?? "refs/heads/main",
    before: push.before ?? NONE,
    after: push.commit,
    created: (push.before ?? NONE) === NONE,
    deleted: push.commit === NONE,
    forced: push.forced ?? false,
    base_ref: null,
    commits: commitsOf(push),
    head_commit: commitsOf(push)[0] ?? null,
    // GitHub sends the time of the push, so that no two bodies are the same.
    repository: { id: 7, full_name: push.repo ?? "acme/site", private: true, default_branch: "main", pushed_at: id },
    pusher: { name: "ada", email: "ada@example.com" },
    sender: { login: "ada", type: "User" },
  }),
  gitlab: (push) => ({
    object_kind: "push",
    event_name: "push",
    ref: push.ref ?? "refs/heads/main",
    before: push.before ?? NONE,
    after: push.commit,
    checkout_sha: push.commit === NONE ? null : push.commit,
    user_username: "ada",
    project_id: 7,
    project: { id: 7, name: "Site", path_with_namespace: push.repo ?? "acme/site", default_branch: "main" },
    commits: commitsOf(push),
    total_commits_count: push.total ?? commitsOf(push).length,
  }),
  gitea: (push, id) => ({
    ref: push.ref ?? "refs/heads/main",
    before: push.before ?? NONE,
    after: push.commit,
    compare_url: "",
    commits: commitsOf(push),
    total_commits: push.total ?? commitsOf(push).length,
    head_commit: commitsOf(push)[0] ?? null,
    repository: { id: 7, full_name: push.repo ?? "acme/site", default_branch: "main", updated_at: id },
    pusher: { id: 1, login: "ada" },
    sender: { id: 1, login: "ada" },
  }),
  bitbucket: (push, id) => {
    const name = (push.ref ?? "refs/heads/main").replace("refs/heads/", "");
    const target = { type: "commit", hash: push.commit, message: push.message ?? "Change the page" };
    const isDeleted = push.commit === NONE;
    return {
      actor: { type: "user", nickname: "ada" },
      repository: { type: "repository", full_name: push.repo ?? "acme/site", uuid: `{${id}}` },
      push: {
        changes: [
          {
            old: push.before === undefined ? null : { type: "branch", name, target: { hash: push.before } },
            new: isDeleted ? null : { type: "branch", name, target },
            closed: isDeleted,
            forced: push.forced ?? false,
          },
        ],
      },
    };
  },
};
