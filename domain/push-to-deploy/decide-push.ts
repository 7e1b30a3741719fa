import { toPlainText } from "../shared/plain-text.ts";
import { matchesPaths } from "./path-patterns.ts";
import type { PushedRef, ReportedDelivery } from "./reported-push.ts";

/** What an app wants to be deployed for. */
export interface WantedPush {
  /** As owner/name. */
  repo: string;
  branch: string;
  paths: readonly string[];
}

export interface PushDecision {
  /** The change that the decision is about; `null` if the delivery has none. */
  ref: PushedRef | null;
  result: "queued" | "skipped" | "refused";
  reason: string | null;
}

const SKIP_WORDS = /\[(skip deploy|deploy skip|skip ci|ci skip)\]/i;
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** Decides whether a delivery asks for a deployment. */
export function decidePush({ event, push, problem }: ReportedDelivery, wanted: WantedPush): PushDecision {
  if (problem !== undefined) return { ref: null, result: "refused", reason: problem };
  if (push === null) {
    const reason = event === "ping" ? "The git host has tested the webhook." : "Only pushes deploy.";
    return { ref: null, result: "skipped", reason };
  }
  const target = `refs/heads/${wanted.branch}`;
  const ref = push.refs.find((each) => each.ref === target) ?? push.refs[0] ?? null;
  const decide = (result: PushDecision["result"], reason: string | null): PushDecision => ({ ref, result, reason });
  if (push.repo.toLowerCase() !== wanted.repo.toLowerCase())
    return decide("refused", `The push is to another repository (${toLine(push.repo, 140)}), not to ${wanted.repo}.`);
  if (ref === null) return decide("skipped", "The push changes no branch.");
  if (ref.ref.startsWith("refs/tags/")) return decide("skipped", "The push is of a tag.");
  if (ref.ref !== target) return decide("skipped", `The push is to another branch than ${wanted.branch}.`);
  if (ref.commit === null) return decide("skipped", "The branch was deleted.");
  if (!COMMIT.test(ref.commit)) return decide("refused", "The delivery has no valid commit id.");
  const word = SKIP_WORDS.exec(ref.message ?? "");
  if (word !== null) return decide("skipped", `The commit message has ${word[0].toLowerCase()}.`);
  if (wanted.paths.length > 0 && ref.paths !== null && !matchesPaths(wanted.paths, ref.paths))
    return decide("skipped", "No changed file matches the paths of the app.");
  return decide("queued", null);
}

/** The first line of a text from outside, without control characters and bounded. */
export function toLine(text: string, maxLength: number): string {
  const [line = ""] = toPlainText(text.slice(0, 4 * maxLength))
    .trim()
    .split("\n");
  const characters = Array.from(line.replaceAll("\t", " "));
  return characters.length <= maxLength ? characters.join("") : `${characters.slice(0, maxLength - 1).join("")}…`;
}
