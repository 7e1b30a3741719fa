import { isRecord } from "../../../domain/shared/json.ts";
import { toPlainText } from "../../../domain/shared/plain-text.ts";
import type { ArchiveLimits, ArchiveViolation } from "./inside/archive-report.ts";

const MEBIBYTE = 1024 * 1024;
const MAX_SHOWN = 120;

/** In words that follow the path of an entry, or "The archive". */
function words(limits: ArchiveLimits): Readonly<Record<ArchiveViolation | "memory" | "time", string>> {
  const { format } = new Intl.NumberFormat("en");
  return {
    absolute: "has an absolute path. Paths must be relative to the folder of the app.",
    "below-file": "is below a file or a symbolic link of the archive.",
    "control-characters": "has a path with control characters.",
    damaged: "is damaged. Pack it again.",
    device: "is neither a file, a folder nor a symbolic link.",
    duplicate: "is in the archive twice.",
    empty: "contains no files.",
    encoding: "has a path that is not UTF-8.",
    "hard-link": "is a hard link. Pack it as a file, such as with tar --hard-dereference.",
    incomplete: "is incomplete. Pack it again.",
    "link-target": "is a symbolic link that may lead out of the archive. Its target must be relative, and inside.",
    "not-tar": "is not a tar archive, plain or compressed by gzip or Zstandard.",
    parent: "has a path with `..`.",
    unpacks: `unpacks to more than ${format(limits.totalBytes / MEBIBYTE)} MiB.`,
    zip: "is a zip archive. Send a tar archive, plain or compressed by gzip or Zstandard.",
    totalBytes: `unpacks to more than ${format(limits.totalBytes / MEBIBYTE)} MiB.`,
    fileBytes: `is larger than ${format(limits.fileBytes / MEBIBYTE)} MiB.`,
    files: `contains more than ${format(limits.files)} files and folders.`,
    pathBytes: `has a path longer than ${format(limits.pathBytes)} bytes.`,
    pathDepth: `has a path with more than ${format(limits.pathDepth)} nested folders.`,
    nameBytes: `has a name longer than ${format(limits.nameBytes)} bytes.`,
    memory: "needs too much memory to unpack.",
    time: "takes too long to unpack.",
  };
}

/** Describes why an archive cannot be unpacked, as a sentence. The report is untrusted. */
export function describeViolation(report: unknown, limits: ArchiveLimits): string {
  const { reason, entry } = isRecord(report) ? report : {};
  const all = words(limits);
  const text = typeof reason === "string" && Object.hasOwn(all, reason) ? all[reason as ArchiveViolation] : all.damaged;
  return `${typeof entry === "string" ? quote(entry) : "The archive"} ${text}`;
}

/** The path of an entry as it can be shown: in one line, and its end if it is long. */
function quote(path: string): string {
  const plain = toPlainText(path).replaceAll(/\s/g, " ");
  return JSON.stringify(plain.length > MAX_SHOWN ? `…${plain.slice(-MAX_SHOWN).toWellFormed()}` : plain);
}
