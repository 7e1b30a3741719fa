import type { PushSource } from "../push-records/push-delivery.entity.ts";

/** A branch or tag that a push has changed. Texts are as the git host sent them. */
export interface PushedRef {
  /** Such as `refs/heads/main`. */
  ref: string;
  /** `null` for a new branch. */
  before: string | null;
  /** `null` for a deleted branch. */
  commit: string | null;
  message: string | null;
  /** The changed files; `null` if the delivery does not have all of them. */
  paths: readonly string[] | null;
}

/** A delivery of a git host whose signature is valid. */
export interface ReportedDelivery {
  source: PushSource;
  externalId: string;
  bodyHash: string | null;
  event: string;
  /** What was pushed; `null` for another event. */
  push: { repo: string; refs: readonly PushedRef[] } | null;
  /** Why it cannot be known what was pushed. */
  problem?: string;
}
