import { stripVTControlCharacters } from "node:util";
import { applyMasks } from "../../../../domain/shared/secret-masks.ts";
import type { RecordSink } from "../runtime-logs/record-sink.ts";
import type { AppOutput } from "../app-process.ts";

const KEPT_LINES = 200;
const MAX_FIRST_LINES = 10;
const MAX_LINE = 16 * 1024;
const MAX_LINE_LENGTH = 300;
const MAX_ERROR_LENGTH = 800;

/** The first line of an error as Node.js prints it, also inside a line of a logger. */
const ERROR_LINE = /(?:^|[\s:[])((?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?:\s.+)/;
/** A line of a stack trace, or one that Node.js adds to an error. */
const STACK_LINE = /^\s+at |^\s*\^+\s*$|^Node\.js v\d|^node:|^\s*[[\]{}]|^$/;
const HEAP_LIMIT = /JavaScript heap out of memory|Reached heap limit/;

/** What a Node server prints, line by line: to the runtime log of the app, and the beginning and the end for failures. */
export class NodeOutput implements AppOutput {
  readonly #records: RecordSink | null;
  readonly #masks: readonly string[];
  readonly #pending = { info: "", error: "" };
  #first: string[] = [];
  #errors: string[] = [];

  constructor(records: RecordSink | null, masks: readonly string[]) {
    this.#records = records;
    this.#masks = masks;
  }

  /** Receives a part of the standard output, or of the standard error. */
  read(chunk: Uint8Array, level: "info" | "error"): void {
    const lines = (this.#pending[level] + Buffer.from(chunk).toString("utf8")).split("\n");
    this.#pending[level] = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) this.#add(line, level);
  }

  /** Call it when no more output comes. */
  end(): void {
    for (const level of ["info", "error"] as const)
      if (this.#pending[level] !== "") this.#add(this.#pending[level], level);
    this.#pending.info = this.#pending.error = "";
  }

  firstLines(): string[] {
    const lines = this.#first.map((line) => this.#clean(line).slice(0, MAX_LINE_LENGTH).trim());
    return lines.filter((line) => line !== "").slice(0, MAX_FIRST_LINES);
  }

  lastError(): string | null {
    if (this.#errors.some((line) => HEAP_LIMIT.test(line))) return "The server ran out of memory.";
    const named = this.#errors.findLast((line) => ERROR_LINE.test(line));
    const message = ERROR_LINE.exec(named ?? "")?.[1] ?? this.#errors.findLast((line) => !STACK_LINE.test(line)) ?? "";
    return this.#clean(message).slice(0, MAX_ERROR_LENGTH).trim() || null;
  }

  #add(line: string, level: "info" | "error"): void {
    const text = line.replace(/\r$/, "");
    if (this.#first.length < MAX_FIRST_LINES * 2) this.#first.push(text);
    if (level === "error") this.#errors = [...this.#errors.slice(1 - KEPT_LINES), text];
    if (this.#records === null) return;
    if (this.#records.isFull()) this.#records.drop();
    else if (text !== "") this.#records.print([Date.now(), level, null, text]);
  }

  /** Without secrets and colours. */
  #clean(text: string): string {
    return stripVTControlCharacters(applyMasks(text, this.#masks));
  }
}
