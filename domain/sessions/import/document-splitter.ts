import { isRecord, parseJson } from "../../shared/json.ts";
import { isTooComplexJson } from "../../shared/json-limits.ts";

/** A value of a JSON document, or why it is left out. */
export type DocumentValue =
  | { value: Record<string, unknown> }
  | { skipped: "value_too_long" | "value_too_complex" | "not_an_object" }
  | { invalid: true };

const MESSAGES = /^\s*"messages"\s*:\s*$/;
/** The characters on which the state depends. */
const SYNTAX = /["\\{}[\],]/g;

/**
 * Splits a JSON object into its fields, and its `messages` into their elements, so that a document of any size needs only the
 * memory of its largest message. It is given line by line. Each part is validated when it is complete.
 */
export class DocumentSplitter {
  readonly #maxLength: number;
  #depth = 0;
  #isInString = false;
  /** Whether the parts are messages, and not fields. */
  #isInMessages = false;
  #part: string[] = [];
  #length = 0;
  #isEmpty = true;

  /** @param maxLength - of a part, in characters */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Whether the object has ended. */
  get isComplete(): boolean {
    return !this.#isEmpty && this.#depth === 0;
  }

  /** Returns the values that end in `text`. */
  push(text: string): DocumentValue[] {
    if (this.isComplete) return text.trim() === "" ? [] : [{ invalid: true }];
    const values: DocumentValue[] = [];
    let start = 0;
    SYNTAX.lastIndex = 0;
    for (let match = SYNTAX.exec(text); match !== null; match = SYNTAX.exec(text)) {
      const at = match.index;
      if (this.#isInString) {
        if (match[0] === "\\") SYNTAX.lastIndex = at + 2;
        else if (match[0] === '"') this.#isInString = false;
        continue;
      }
      if (match[0] === '"') this.#isInString = true;
      else if (this.#isBoundary(match[0], text.slice(start, at))) {
        this.#append(text.slice(start, at));
        start = at + 1;
        values.push(...this.#endPart());
      }
      if (this.isComplete) return text.slice(start).trim() === "" ? values : [...values, { invalid: true }];
    }
    this.#append(text.slice(start));
    return values;
  }

  /** Changes the depth. Returns whether a part ends before the character. */
  #isBoundary(character: string, before: string): boolean {
    const level = this.#isInMessages ? 2 : 1;
    switch (character) {
      case ",":
        return this.#depth === level;
      case "{":
      case "[":
        return this.#open(character, before);
      case "}":
      case "]":
        this.#depth -= 1;
        return this.#depth === level - 1;
      default:
        return false;
    }
  }

  #open(character: string, before: string): boolean {
    this.#depth += 1;
    if (this.#depth === 1) {
      this.#isEmpty = false;
      return true;
    }
    if (this.#depth !== 2 || this.#isInMessages || character !== "[") return false;
    if (!MESSAGES.test([...this.#part, before].join(""))) return false;
    this.#isInMessages = true;
    return true;
  }

  #append(text: string): void {
    this.#length += text.length;
    if (this.#length <= this.#maxLength) this.#part.push(text);
  }

  #endPart(): DocumentValue[] {
    const text = this.#part.join("");
    const isTooLong = this.#length > this.#maxLength;
    const isMessage = this.#isInMessages;
    this.#discard();
    // The list has ended if the depth is that of the object again.
    if (this.#depth === 1) this.#isInMessages = false;
    if (isTooLong) return [{ skipped: "value_too_long" }];
    return text.trim() === "" || MESSAGES.test(text) ? [] : [toValue(isMessage ? text : `{${text}}`)];
  }

  #discard(): void {
    this.#part = [];
    this.#length = 0;
  }
}

function toValue(text: string): DocumentValue {
  if (isTooComplexJson(text)) return { skipped: "value_too_complex" };
  const value = parseJson(text);
  if (value === undefined) return { invalid: true };
  return isRecord(value) ? { value } : { skipped: "not_an_object" };
}
