/** The part of a JSON Schema that names arguments. Schemas of apps may contain anything else. */
interface ArgumentSchema {
  properties?: unknown;
  required?: unknown;
}

const MAX_ARGUMENTS = 50;
/** In characters. */
const MAX_ARGUMENT_NAME = 100;

/** A sentence with the names of the arguments of a tool, for error messages. */
export function describeArguments({ properties, required }: ArgumentSchema): string {
  const requiredNames: unknown[] = Array.isArray(required) ? required : [];
  const names = Object.keys(properties ?? {}).filter((name) => name.length <= MAX_ARGUMENT_NAME);
  if (names.length === 0) return "The tool has no arguments.";
  const described = names.map((name) => (requiredNames.includes(name) ? name : `${name} (optional)`));
  const rest = described.length > MAX_ARGUMENTS ? ", …" : "";
  return `Arguments: ${described.slice(0, MAX_ARGUMENTS).join(", ")}${rest}.`;
}
