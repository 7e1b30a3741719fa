import type { Writable } from "node:stream";
import { cut } from "./display-width.ts";
import { removeControlCharacters, renderValue } from "./render-value.ts";

const FRAMES = ["|", "/", "-", "\\"];
const FRAME_MS = 100;
const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = "\r\u001b[2K";

/** A stream of the process, which may be a terminal. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

export interface OutputOptions {
  stdout: OutputStream;
  stderr: OutputStream;
  json: boolean;
  color: boolean;
  /** Whether the terminal cannot move its cursor. Progress is then one line for each text. */
  isDumbTerminal?: boolean;
}

/** Writes data to standard output, messages to standard error, and progress to standard error if it is a terminal. */
export class Output {
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #color: boolean;
  readonly #isDumbTerminal: boolean;
  readonly json: boolean;
  /** The last progress of a dumb terminal. */
  #lastText: string | null = null;
  #progress: { text: string; timer: NodeJS.Timeout; frame: number } | null = null;

  constructor({ stdout, stderr, json, color, isDumbTerminal = false }: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#color = color;
    this.#isDumbTerminal = isDumbTerminal;
    this.json = json;
  }

  /** Writes the output of a procedure: as JSON, or for a person. */
  value(value: unknown, render: (width: number | null) => string = (width) => renderValue(value, width)): void {
    this.endProgress();
    const text = this.json ? JSON.stringify(value, null, 2) : render(this.#width(this.#stdout));
    if (text !== "") this.#stdout.write(`${text}\n`);
  }

  /** Writes one line of data, such as a line of a log; as JSON, one object in a line. */
  line(text: string, value: unknown): void {
    this.#withoutProgress(() =>
      this.#stdout.write(this.json ? `${JSON.stringify(value)}\n` : `${removeControlCharacters(text)}\n`),
    );
  }

  /** Writes a message for the user. */
  message(text: string): void {
    this.#withoutProgress(() => this.#stderr.write(`${removeControlCharacters(text)}\n`));
  }

  error(text: string): void {
    this.endProgress();
    const label = this.#color && this.#stderr.isTTY === true ? "\u001b[31merror:\u001b[39m" : "error:";
    this.#stderr.write(`${label} ${removeControlCharacters(text).replaceAll("\n", " ")}\n`);
  }

  /** Shows what the command is waiting for, on a terminal only. */
  progress(text: string): void {
    if (this.#stderr.isTTY !== true) return;
    if (this.#isDumbTerminal) {
      if (text !== this.#lastText) this.message(text);
      this.#lastText = text;
      return;
    }
    if (this.#progress === null) {
      const timer = setInterval(() => this.#drawProgress(), FRAME_MS).unref();
      this.#progress = { text, timer, frame: 0 };
    } else this.#progress.text = text;
    this.#drawProgress();
  }

  endProgress(): void {
    if (this.#progress === null) return;
    clearInterval(this.#progress.timer);
    this.#progress = null;
    this.#stderr.write(CLEAR_LINE);
  }

  #withoutProgress(write: () => void): void {
    if (this.#progress !== null) this.#stderr.write(CLEAR_LINE);
    write();
    this.#drawProgress();
  }

  #drawProgress(): void {
    if (this.#progress === null) return;
    this.#progress.frame = (this.#progress.frame + 1) % FRAMES.length;
    const text = `${FRAMES[this.#progress.frame] ?? ""} ${removeControlCharacters(this.#progress.text)}`;
    this.#stderr.write(`${CLEAR_LINE}${cut(text, this.#width(this.#stderr) ?? Infinity)}`);
  }

  #width({ isTTY, columns = 0 }: OutputStream): number | null {
    if (isTTY !== true) return null;
    // Some terminals do not tell their size.
    return columns > 0 ? columns : DEFAULT_COLUMNS;
  }
}
