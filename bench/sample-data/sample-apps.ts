/** Generates realistic apps with procedures. The same number always gives the same app, and all apps are different. */
import type { DiscoveredProcedure, JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import { ACTIONS, type Action, FIELDS, NAME_PARTS, SUBJECTS, TRADES } from "./sample-words.ts";

export interface SampleApp {
  name: string;
  procedures: DiscoveredProcedure[];
}

/** Every app uses a different mixture of the same words, because the search must distinguish similar apps. */
export function createSampleApp(number: number, count: number): SampleApp {
  const pick = createPicker(number);
  const trade = pick(TRADES);
  const name = `${createName(pick)} ${trade.name}`;
  const modules = Array.from({ length: 4 }, () => createName(pick) + pick(NAME_PARTS.kinds));
  const procedureByName = new Map<string, DiscoveredProcedure>();
  while (procedureByName.size < count) {
    // Most procedures are about the trade of the app, and some are about subjects that all apps have.
    const subject = pick([...trade.subjects, ...trade.subjects, ...SUBJECTS]);
    const procedure = createProcedure(pick, subject, pick(modules));
    procedureByName.set(procedure.name, procedure);
  }
  return { name, procedures: [...procedureByName.values()] };
}

function createProcedure(pick: Pick, subject: string, module: string): DiscoveredProcedure {
  const action = pick(ACTIONS);
  const [field, other] = [pick(FIELDS), pick(FIELDS)];
  const suffix = pick(["", "", `By${capitalize(field.name)}`, `For${capitalize(pick(SUBJECTS))}`]);
  return {
    name: `${pluralize(camelCase(subject))}.${action.verb}${suffix}`,
    kind: action.kind,
    description: createDescription(pick, { action, subject, module, field: field.words, other: other.words }),
    inputSchema: createSchema(pick, [...action.fields, field.name, other.name]),
    outputSchema: null,
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
  };
}

interface DescriptionWords {
  action: Action;
  subject: string;
  module: string;
  field: string;
  other: string;
}

function createDescription(pick: Pick, { action, subject, module, field, other }: DescriptionWords): string {
  const thing = pick([`the ${subject}`, `a ${subject}`, `every ${subject}`, `one ${subject}`]);
  const first = `${action.does} ${thing}${pick(["", ` of the ${pick(SUBJECTS)}`, ` in ${module}`, ` by its ${field}`])}.`;
  const second = pick([
    `Returns the ${subject} with its ${field} and ${other}.`,
    `Use it when the ${field} has changed, or before you ${pick(ACTIONS).words} the ${pick(SUBJECTS)}.`,
    `The ${field} is required; the ${other} may be left out.`,
    `Fails when the ${subject} does not exist or its ${field} is not valid.`,
    `Only for members who may ${pick(ACTIONS).words} ${pluralize(subject)}.`,
  ]);
  return pick([first, `${first} ${second}`, `${first} ${second}`]);
}

function createSchema(pick: Pick, names: readonly string[]): JsonSchema {
  const chosen = FIELDS.filter(({ name }) => names.includes(name));
  const optional = [pick(FIELDS), pick(FIELDS)];
  const properties = Object.fromEntries(
    [...chosen, ...optional].map(({ name, type, words }) => [name, { type, description: `The ${words}` }]),
  );
  return { type: "object", properties, required: chosen.map(({ name }) => name), additionalProperties: false };
}

type Pick = <T>(from: readonly T[]) => T;

/** A pseudo-random choice that is the same for the same seed (mulberry32). */
function createPicker(seed: number): Pick {
  let state = seed * 7919 + 1;
  return <T>(from: readonly T[]): T => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return from[((mixed ^ (mixed >>> 14)) >>> 0) % from.length] as T;
  };
}

function createName(pick: Pick): string {
  return pick(NAME_PARTS.first) + pick(NAME_PARTS.last);
}

function camelCase(words: string): string {
  return words.replaceAll(/[ -](\w)/g, (_, letter: string) => letter.toUpperCase());
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function pluralize(noun: string): string {
  return noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
