/** Apps as organizations have them, made up: always the same ones, and no two alike. */
import type { DiscoveredProcedure, JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import { ACTIONS, type Action, FIELDS, NAME_PARTS, SUBJECTS, TRADES } from "./sample-words.ts";

export interface InventedApp {
  name: string;
  procedures: DiscoveredProcedure[];
}

/** The app with this number. Every number has its own mixture of the same words, as apps of one trade have. */
export function inventedApp(number: number, procedures: number): InventedApp {
  const pick = picker(number);
  const trade = pick(TRADES);
  const name = `${coined(pick)} ${trade.name}`;
  const modules = [coined, coined, coined, coined].map((coin) => coin(pick) + pick(NAME_PARTS.kinds));
  const found = new Map<string, DiscoveredProcedure>();
  while (found.size < procedures) {
    // Most of an app is about its own trade; some of it every app has.
    const subject = pick([...trade.subjects, ...trade.subjects, ...SUBJECTS]);
    const procedure = inventedProcedure(pick, subject, pick(modules));
    found.set(procedure.name, procedure);
  }
  return { name, procedures: [...found.values()] };
}

function inventedProcedure(pick: Pick, subject: string, module: string): DiscoveredProcedure {
  const action = pick(ACTIONS);
  const [field, other] = [pick(FIELDS), pick(FIELDS)];
  const suffix = pick(["", "", `By${capital(field.name)}`, `For${capital(pick(SUBJECTS))}`]);
  return {
    name: `${plural(camelCase(subject))}.${action.verb}${suffix}`,
    kind: action.kind,
    description: descriptionOf(pick, { action, subject, module, field: field.words, other: other.words }),
    inputSchema: schemaOf(pick, [...action.fields, field.name, other.name]),
    outputSchema: null,
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
  };
}

interface Said {
  action: Action;
  subject: string;
  module: string;
  field: string;
  other: string;
}

function descriptionOf(pick: Pick, { action, subject, module, field, other }: Said): string {
  const thing = pick([`the ${subject}`, `a ${subject}`, `every ${subject}`, `one ${subject}`]);
  const first = `${action.does} ${thing}${pick(["", ` of the ${pick(SUBJECTS)}`, ` in ${module}`, ` by its ${field}`])}.`;
  const second = pick([
    `Returns the ${subject} with its ${field} and ${other}.`,
    `Use it when the ${field} has changed, or before you ${pick(ACTIONS).words} the ${pick(SUBJECTS)}.`,
    `The ${field} is required; the ${other} may be left out.`,
    `Fails when the ${subject} does not exist or its ${field} is not valid.`,
    `Only for members who may ${pick(ACTIONS).words} ${plural(subject)}.`,
  ]);
  return pick([first, `${first} ${second}`, `${first} ${second}`]);
}

function schemaOf(pick: Pick, names: readonly string[]): JsonSchema {
  const chosen = FIELDS.filter(({ name }) => names.includes(name));
  const optional = [pick(FIELDS), pick(FIELDS)];
  const properties = Object.fromEntries(
    [...chosen, ...optional].map(({ name, type, words }) => [name, { type, description: `The ${words}` }]),
  );
  return { type: "object", properties, required: chosen.map(({ name }) => name), additionalProperties: false };
}

type Pick = <T>(from: readonly T[]) => T;

/** Chooses the same things in the same order for the same seed (mulberry32). */
function picker(seed: number): Pick {
  let state = seed * 7919 + 1;
  return <T>(from: readonly T[]): T => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return from[((mixed ^ (mixed >>> 14)) >>> 0) % from.length] as T;
  };
}

function coined(pick: Pick): string {
  return pick(NAME_PARTS.first) + pick(NAME_PARTS.last);
}

function camelCase(words: string): string {
  return words.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function plural(noun: string): string {
  return noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
