import { toSingleLine } from "./single-line.ts";

const TAIL_BYTES = 64 * 1024;

/** Lines that package managers and wrangler print around the reason of a failure. */
const NOISE =
  /^(npm (error code|error A complete log|warn|notice)|npm error$|ELIFECYCLE|WARN\s|For help, run: pnpm |error Command failed|info Visit |> |--dry-run: |🪵 )/u;

/** Keeps the last 64 KiB of a step's output, to quote from them when the step fails. */
export class OutputTail {
  readonly #sourceFolders: readonly string[];
  #bytes = Buffer.alloc(0);

  /** @param sourceFolders - paths of the source folder, which are removed from the lines */
  constructor(sourceFolders: readonly string[]) {
    this.#sourceFolders = sourceFolders;
  }

  add(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }

  /** Returns the lines that are neither empty nor noise, oldest first, with paths relative to the source folder. */
  lines(): string[] {
    const lines = this.#bytes.toString("utf8").split(/[\r\n]+/);
    return lines
      .map((line) => toSingleLine(this.#withRelativePaths(line)))
      .filter((line) => line !== "" && !NOISE.test(line));
  }

  #withRelativePaths(line: string): string {
    return this.#sourceFolders.reduce(
      (text, folder) => text.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, ""),
      line,
    );
  }
}
