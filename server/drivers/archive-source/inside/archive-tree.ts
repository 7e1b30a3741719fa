import { type ArchiveLimits, type ArchiveViolation, Refusal } from "./archive-report.ts";

/** What tar-stream reports of an entry. */
export interface EntryHeader {
  name: string;
  type?: string | null | undefined;
  size?: number | undefined;
  linkname?: string | null | undefined;
}

/** What to write for an entry. */
export type TreeEntry =
  | { kind: "file" | "folder"; path: string }
  | { kind: "link"; path: string; target: string }
  /** A part of `.git`. */
  | { kind: "left-out" };

type Kind = "file" | "folder" | "link";

const KINDS: Readonly<Record<string, Kind | "hard-link">> = {
  file: "file",
  "contiguous-file": "file",
  directory: "folder",
  symlink: "link",
  link: "hard-link",
};

/**
 * The files, folders and links of an archive so far. An entry is accepted only if writing it cannot change or leave what the
 * earlier ones have written.
 */
export class ArchiveTree {
  readonly #limits: ArchiveLimits;
  readonly #entries = new Map<string, Kind>();
  #seen = 0;
  fileCount = 0;
  bytes = 0;
  leftOut = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  /** @throws {Refusal} */
  add({ name, type, size = 0, linkname }: EntryHeader): TreeEntry {
    this.#seen += 1;
    if (this.#seen > this.#limits.files) throw new Refusal("files");
    const segments = this.#readPath(name);
    if (segments.some((segment) => segment.toLowerCase() === ".git")) {
      this.leftOut += 1;
      return { kind: "left-out" };
    }
    const kind = KINDS[type ?? ""];
    if (kind === undefined) throw new Refusal("device", name);
    if (kind === "hard-link") throw new Refusal("hard-link", name);
    const path = segments.join("/");
    if (path === "") {
      if (kind === "folder") return { kind, path };
      throw new Refusal("empty", name);
    }
    this.#insert(segments, kind, name);
    if (kind === "link") return { kind, path, target: this.#readTarget(segments, linkname ?? "", name) };
    if (kind === "file") this.#count(size, name);
    return { kind, path };
  }

  /** Returns the segments of a path. `./a//b/` is `a/b`, as for tar itself. */
  #readPath(name: string): string[] {
    const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
    const violation = this.#findViolation(name, segments);
    if (violation !== null) throw new Refusal(violation, name);
    return segments;
  }

  #findViolation(name: string, segments: readonly string[]): ArchiveViolation | null {
    const { pathBytes, pathDepth, nameBytes } = this.#limits;
    if (name.startsWith("/")) return "absolute";
    if (segments.includes("..")) return "parent";
    if (name.includes("\uFFFD")) return "encoding";
    if (/\p{Cc}/u.test(name)) return "control-characters";
    if (Buffer.byteLength(segments.join("/")) > pathBytes) return "pathBytes";
    if (segments.length > pathDepth) return "pathDepth";
    return segments.some((segment) => Buffer.byteLength(segment) > nameBytes) ? "nameBytes" : null;
  }

  #insert(segments: readonly string[], kind: Kind, name: string): void {
    for (let length = 1; length < segments.length; length++) {
      const parent = segments.slice(0, length).join("/");
      const existing = this.#entries.get(parent) ?? "folder";
      if (existing !== "folder") throw new Refusal("below-file", name);
      this.#set(parent, "folder");
    }
    const path = segments.join("/");
    const existing = this.#entries.get(path);
    if (existing !== undefined && !(existing === "folder" && kind === "folder")) throw new Refusal("duplicate", name);
    this.#set(path, kind);
  }

  #set(path: string, kind: Kind): void {
    this.#entries.set(path, kind);
    if (this.#entries.size > this.#limits.files) throw new Refusal("files");
  }

  /**
   * Checks the target of a link. It has `..` only at its start: behind a name that is itself a link, `..` could lead out. No entry is
   * below a link, so the `..` at the start lead through folders of the archive.
   */
  #readTarget(segments: readonly string[], target: string, name: string): string {
    const parts = target.split("/").filter((part) => part !== "" && part !== ".");
    const ups = parts.findIndex((part) => part !== "..");
    const isInside =
      ups !== -1 && ups < segments.length && !parts.slice(ups).some((part) => part === ".." || isGitFolder(part));
    const isPlain = !target.startsWith("/") && !/\p{Cc}|\uFFFD/u.test(target);
    if (!isInside || !isPlain || Buffer.byteLength(target) > this.#limits.pathBytes)
      throw new Refusal("link-target", name);
    return target;
  }

  #count(size: number, name: string): void {
    const { fileBytes, totalBytes } = this.#limits;
    if (!Number.isSafeInteger(size) || size < 0) throw new Refusal("damaged", name);
    if (size > fileBytes) throw new Refusal("fileBytes", name);
    this.fileCount += 1;
    this.bytes += size;
    if (this.bytes > totalBytes) throw new Refusal("totalBytes");
  }
}

function isGitFolder(segment: string): boolean {
  return segment.toLowerCase() === ".git";
}
