import { isDeepStrictEqual } from "node:util";
import { parse, patch } from "@decimalturn/toml-patch";
import { isObject, readPath, type Settings, SettingsError, type SettingsFormat } from "./settings-text.ts";

/** TOML 1.0. */
export const TOML: SettingsFormat = {
  parse(text) {
    try {
      return parse(text) as Settings;
    } catch (error) {
      // The message of the parser quotes the line, which may contain a secret.
      const { line = 1, column = 0 } = error as { line?: number; column?: number };
      throw new SettingsError(`line ${line}, column ${column + 1} is not valid TOML`);
    }
  },
  set(text, path, value) {
    const before = TOML.parse(text);
    const wanted = withValue(before, path, value);
    for (const change of [appendTable, patchTable]) {
      const changed = change(text, path, value, wanted);
      if (changed !== null) return changed;
    }
    throw new SettingsError(`"${path.join(".")}" cannot be changed without changing other settings`);
  },
  render: renderTable,
};

/** Renders one table of strings, and lists of strings. JSON has the same syntax for them. */
function renderTable(path: readonly string[], value: Settings): string {
  const lines = Object.entries(value).map(([name, each]) => `${name} = ${JSON.stringify(each)}`);
  return `[${path.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join(".")}]\n${lines.join("\n")}\n`;
}

/** Appends a table that the text does not have. `null` when that is not possible, as below an inline table. */
function appendTable(text: string, path: readonly string[], value: Settings, wanted: Settings): string | null {
  if (readPath(TOML.parse(text), path) !== undefined) return null;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text === "" ? "" : text.replace(/(\r?\n)*$/, eol + eol);
  return accept(start + renderTable(path, value).replaceAll("\n", eol), wanted);
}

function patchTable(text: string, _path: readonly string[], _value: Settings, wanted: Settings): string | null {
  return accept(patch(text, wanted), wanted);
}

/** Returns a text if it has exactly the wanted settings. */
function accept(text: string, wanted: Settings): string | null {
  try {
    return isDeepStrictEqual(toPlain(TOML.parse(text)), toPlain(wanted)) ? text : null;
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}

function withValue(settings: Settings, [name, ...rest]: readonly string[], value: Settings): Settings {
  if (name === undefined) return value;
  const inner = settings[name] ?? {};
  if (!isObject(inner)) throw new SettingsError(`"${name}" is not a table`);
  return { ...settings, [name]: withValue(inner, rest, value) };
}

/** Tables have no prototype, and dates are objects with the text of the file. */
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_name, each: unknown) => (typeof each === "bigint" ? `${each}n` : each)));
}
