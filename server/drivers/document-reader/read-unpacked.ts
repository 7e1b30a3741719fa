import type { ArchivedDocument } from "../../../domain/ports/document-reader.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { SandboxOutcome } from "../../ports/sandbox.ts";

/** In words that follow "the archive", and what to do. */
const REASONS: Readonly<Record<string, string>> = {
  "not-zip": "is not a zip file, or it is damaged",
  "too-many-files": "has too many files. Split it into several archives",
  unpacks: "unpacks to too much data. Split it into several archives",
  damaged: "is damaged",
  time: "takes too long to unpack. Split it into several archives",
  memory: "needs too much memory to unpack. Split it into several archives",
};

/**
 * Reads what the program in the sandbox reports of an archive. The archive may have taken over the program, so the report is untrusted.
 *
 * @throws {ServiceError} `invalid` when the archive is refused, or the program did not end
 */
export function readUnpacked(outcome: SandboxOutcome, output: Buffer): ArchivedDocument[] {
  if (outcome.reason === "signal" && outcome.signal === "SIGABRT") throw explainRefusal("memory");
  if (outcome.reason !== "exit" || outcome.code !== 0) throw explainRefusal(outcome.reason);
  const end = output.indexOf("\n");
  const report = parseJson(output.subarray(0, Math.max(0, end)).toString());
  if (!isRecord(report)) throw explainRefusal("damaged");
  if (!Array.isArray(report["files"])) throw explainRefusal(String(report["reason"]));
  let from = end + 1;
  return report["files"].map((file: unknown): ArchivedDocument => {
    if (!isRecord(file) || typeof file["path"] !== "string") throw explainRefusal("damaged");
    const { path, size, problem } = file;
    const bytes = Number(size);
    if (!Number.isSafeInteger(bytes) || bytes < 0 || from + bytes > output.length) throw explainRefusal("damaged");
    from += bytes;
    const content = output.subarray(from - bytes, from);
    return { path, content, problem: typeof problem === "string" ? problem.slice(0, 200) : null };
  });
}

function explainRefusal(reason: string): ServiceError {
  const words = Object.hasOwn(REASONS, reason) ? REASONS[reason] : REASONS["damaged"];
  return new ServiceError("invalid", `file: the archive ${words}.`);
}
