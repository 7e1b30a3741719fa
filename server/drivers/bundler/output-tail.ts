import { stripVTControlCharacters } from "node:util";

const KEPT_BYTES = 64 * 1024;
const LONGEST_HINT = 300;

/** What package managers and wrangler print around the reason of a failure. */
const NOISE =
  /^(npm (error code|error A complete log|warn|notice)|npm error$|ELIFECYCLE|info Visit |> |--dry-run: |🪵 )/u;

/** The end of what a step printed, kept so that its failure can be told in the step's own words. */
export class OutputTail {
  readonly #folders: readonly string[];
  #bytes = Buffer.alloc(0);

  /** @param folders - the names of the source's folder, which mean nothing to the owner of an app */
  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
  }

  /** The lines that say something, oldest first, made plain, and with paths that start at the root of the source. */
  lines(): string[] {
    const lines = this.#bytes.toString("utf8").split(/[\r\n]+/);
    return lines.map((line) => plain(this.#withoutFolders(line))).filter((line) => line !== "" && !NOISE.test(line));
  }

  #withoutFolders(line: string): string {
    return this.#folders.reduce(
      (text, folder) => text.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, ""),
      line,
    );
  }
}

/** Untrusted text as one line to show: without colours, control and direction characters, and not endless. */
export function plain(text: string): string {
  // Control characters, direction overrides and lone surrogates have no place in a status line.
  const oneLine = stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, " ")
    .trim();
  return oneLine.length > LONGEST_HINT ? `${oneLine.slice(0, LONGEST_HINT)}…` : oneLine;
}
