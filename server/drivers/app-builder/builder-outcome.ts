import { createHash } from "node:crypto";
import type { TrialResult } from "../../../domain/ports/app-builder-agent.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";

const MAX_SUMMARY_LENGTH = 1000;

/** What was used before a bound was reached. */
export interface Progress {
  steps: number;
  tokens: number;
}

export function boundReached(bound: string, { steps, tokens }: Progress): BuildFailure {
  return new BuildFailure(
    "user",
    `The app builder agent did not finish within ${bound} (${steps} steps, ${tokens} tokens).`,
    "Nothing is changed. Ask for less in one customization, and deploy again.",
  );
}

/** Notices when the same error occurs in two trials in a row. */
export class TrialHistory {
  readonly #say: (line: string) => void;
  #lastFailure: string | null = null;

  /** @param say - writes a line to the log of the deployment */
  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  /** @throws {BuildFailure} `user` when an error repeats */
  record({ passed, report }: TrialResult): void {
    if (passed) {
      this.#lastFailure = null;
      return this.#say("the changed app builds and starts");
    }
    const [problem = ""] = report.split("\n");
    const hash = hashReport(report);
    if (hash === this.#lastFailure) {
      this.#say(`failed again: ${problem}`);
      throw new BuildFailure(
        "user",
        `The app builder agent could not correct an error that occurred twice in a row: ${problem}`,
        "Nothing is changed. The log has the error. Describe the change in another way, and deploy again.",
      );
    }
    this.#say(`failed: ${problem}; trying again`);
    this.#lastFailure = hash;
  }
}

/** One line, for logs and messages. */
export function toSummary(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= MAX_SUMMARY_LENGTH ? line : `${line.slice(0, MAX_SUMMARY_LENGTH)}…`;
}

/** Identifies an error, to notice when it repeats. Numbers, such as lines and durations, do not count. */
function hashReport(report: string): string {
  return createHash("sha256").update(report.replaceAll(/\d+/g, "0")).digest("hex");
}
