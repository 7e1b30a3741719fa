import { isDeepStrictEqual } from "node:util";
import { applyEdits, type FormattingOptions, modify, parse, type ParseError, printParseErrorCode } from "jsonc-parser";
import { isObject, readPath, type Settings, SettingsError, type SettingsFormat } from "./settings-text.ts";

const BYTE_ORDER_MARK = "\ufeff";

/** JSON, also with comments and trailing commas. */
export const JSONC: SettingsFormat = {
  parse(text) {
    const errors: ParseError[] = [];
    const content = withoutMark(text);
    if (content.trim() === "") return {};
    const value: unknown = parse(content, errors, { allowTrailingComma: true });
    const [first] = errors;
    if (first !== undefined) {
      const problem = printParseErrorCode(first.error)
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
        .toLowerCase();
      throw new SettingsError(`${describePosition(content, first.offset)} is not valid JSON (${problem})`);
    }
    if (!isObject(value)) throw new SettingsError("it is not a JSON object");
    return value;
  },
  set(text, path, value) {
    const before = JSONC.parse(text);
    readPath(before, path);
    const content = withoutMark(text);
    const formattingOptions = detectFormat(content);
    // After the last property, there may be a comment that belongs to it.
    const options = { formattingOptions, getInsertionIndex: () => 0 };
    const source = content.trim() === "" ? `{}${formattingOptions.eol ?? "\n"}` : content;
    const changed = findChanges(readPath(before, path), value).reduce(
      (current, [name, each]) => applyEdits(current, modify(current, [...path, ...name], each, options)),
      source,
    );
    // A text with a key twice is changed at the first one, while its reader uses the last one.
    if (!isDeepStrictEqual(readPath(JSONC.parse(changed), path), value))
      throw new SettingsError(`it has "${path[0] ?? ""}" more than once`);
    return text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + changed : changed;
  },
  render(path, value) {
    const settings = path.reduceRight<Settings>((inner, name) => ({ [name]: inner }), value);
    return `${JSON.stringify(settings, null, 2)}\n`;
  },
};

/**
 * Adds an item to a list, or replaces the value at a path that leads into a list.
 *
 * @param path - ends with -1 for a new item at the end, also of a list that is missing
 * @throws {SettingsError} for a text that is not JSON
 */
export function setListItem(text: string, path: readonly (string | number)[], value: unknown): string {
  JSONC.parse(text);
  const content = withoutMark(text);
  const formattingOptions = detectFormat(content);
  const source = content.trim() === "" ? `{}${formattingOptions.eol ?? "\n"}` : content;
  const isArrayInsertion = path.at(-1) === -1;
  const changed = applyEdits(source, modify(source, [...path], value, { formattingOptions, isArrayInsertion }));
  JSONC.parse(changed);
  return text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + changed : changed;
}

/** Returns the fields to set, so that the others keep their comments. `[]` is the name of the whole value. */
function findChanges(before: unknown, value: Settings): (readonly [readonly string[], unknown])[] {
  if (!isObject(before) || !Object.keys(before).every((name) => Object.hasOwn(value, name))) return [[[], value]];
  const changed = Object.entries(value).filter(([name, each]) => !isDeepStrictEqual(before[name], each));
  return changed.map(([name, each]) => [[name], each]);
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

function describePosition(text: string, offset: number): string {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}

/** The indentation and the line breaks that a text has already. */
function detectFormat(text: string): FormattingOptions {
  const [, indentation = "  "] = /\n([ \t]+)\S/.exec(text) ?? [];
  return {
    insertSpaces: !indentation.startsWith("\t"),
    tabSize: indentation.startsWith("\t") ? 1 : indentation.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}
