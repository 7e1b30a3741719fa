import type { PushedRef, ReportedDelivery } from "../../domain/push-to-deploy/reported-push.ts";
import { MAX_PATHS_LENGTH } from "../../domain/push-to-deploy/path-patterns.ts";
import type { DeliveryHeaders } from "./verify-signature.ts";

type Fields = Readonly<Record<string, unknown>>;

/** GitHub sends at most 2048 commits, Gitea and GitLab fewer. */
const MAX_COMMITS = 2048;
const NO_COMMIT = /^0+$/;

/**
 * Reads what a delivery says about a push; `null` for another event. A field that is missing or has another type counts as missing.
 *
 * Sources: the descriptions of the push events of GitHub, GitLab, Gitea and Bitbucket Cloud.
 */
export function readPush({ source, event }: DeliveryHeaders, payload: unknown): ReportedDelivery["push"] {
  const body = fields(payload);
  if (source === "bitbucket") return event === "repo:push" ? readBitbucket(body) : null;
  if (source === "gitlab") return event === "Push Hook" || event === "Tag Push Hook" ? readGitlab(body) : null;
  return event === "push" ? readGithub(body) : null;
}

/** The name of an event that only tests the webhook is the same for all hosts. */
export function eventName({ source, event }: DeliveryHeaders): string {
  return source === "bitbucket" && event === "diagnostics:ping" ? "ping" : event;
}

/** Gitea has the format of GitHub. */
function readGithub(body: Fields): ReportedDelivery["push"] {
  const commits = list(body["commits"]).map(fields);
  const head = body["head_commit"] === null || body["head_commit"] === undefined ? commits.at(-1) : body["head_commit"];
  const total = body["total_commits"];
  const isComplete = body["forced"] !== true && (typeof total !== "number" || total <= commits.length);
  return {
    repo: text(fields(body["repository"])["full_name"]) ?? "",
    refs: [readRef(body, fields(head), isComplete ? commits : null)],
  };
}

function readGitlab(body: Fields): ReportedDelivery["push"] {
  const commits = list(body["commits"]).map(fields);
  const head = commits.find(({ id }) => id === body["after"]) ?? commits.at(-1);
  const isComplete = body["total_commits_count"] === commits.length;
  return {
    repo: text(fields(body["project"])["path_with_namespace"]) ?? "",
    refs: [readRef(body, fields(head), isComplete ? commits : null)],
  };
}

function readBitbucket(body: Fields): ReportedDelivery["push"] {
  const changes = list(fields(body["push"])["changes"]).map(fields);
  return {
    repo: text(fields(body["repository"])["full_name"]) ?? "",
    refs: changes.slice(0, MAX_COMMITS).map((change) => {
      const [before, after] = [fields(change["old"]), fields(change["new"])];
      const named = text(after["name"]) === null ? before : after;
      const folder = named["type"] === "tag" ? "tags" : "heads";
      const target = fields(after["target"]);
      return {
        ref: `refs/${folder}/${text(named["name"]) ?? ""}`,
        before: text(fields(before["target"])["hash"]),
        commit: text(target["hash"]),
        message: text(target["message"]),
        // Bitbucket does not say which files changed.
        paths: null,
      };
    }),
  };
}

function readRef(body: Fields, head: Fields, commits: readonly Fields[] | null): PushedRef {
  return {
    ref: text(body["ref"]) ?? "",
    before: commitOrNull(body["before"]),
    commit: body["deleted"] === true ? null : commitOrNull(body["after"]),
    message: text(head["message"]),
    paths: commits === null ? null : readPaths(commits),
  };
}

/** Returns `null` if there may be further changes: without commits, as for a new branch, or with too many. */
function readPaths(commits: readonly Fields[]): string[] | null {
  if (commits.length === 0 || commits.length >= MAX_COMMITS) return null;
  const lists = commits.flatMap(({ added, removed, modified }) => [added, removed, modified]);
  if (!lists.every(Array.isArray)) return null;
  const paths = [...new Set(lists.flat().filter((path) => typeof path === "string"))];
  const length = paths.reduce((sum, path) => sum + path.length, 0);
  return length > MAX_PATHS_LENGTH ? null : paths;
}

function commitOrNull(value: unknown): string | null {
  const commit = text(value);
  return commit === null || NO_COMMIT.test(commit) ? null : commit;
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
