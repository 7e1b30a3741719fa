/** The most names that a message lists. */
const MAX_NAMES = 10;

const NAME = /^[A-Z][A-Z0-9_]{0,127}$/;

/** A list of names for a message: `A`, `A and B`, `A, B and 5 more`. */
export function formatNames(names: readonly string[]): string {
  const listed = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names;
  return listed.length < 2 ? listed.join("") : `${listed.slice(0, -1).join(", ")} and ${listed.at(-1)}`;
}

/**
 * Says how to set variables that an app needs.
 *
 * @param when - `build` if the build needs them, which gets only variables that are set for it
 */
export function adviseToSet(names: readonly string[], when: "build" | "start"): string {
  const invalid = names.filter((name) => !NAME.test(name));
  if (invalid.length > 0)
    return `Rename ${formatNames(invalid)}: the names of variables match ^[A-Z][A-Z0-9_]*$. Then set them, and deploy again.`;
  const [body, option] = when === "build" ? [" with build: true", " --build"] : ["", ""];
  const example = names.length === 1 ? `${names[0]}` : "{name}";
  return `Set ${formatNames(names)}: PUT /v1/apps/{id}/variables/${example}${body}, or svc variables set APP ${names.length === 1 ? names[0] : "NAME"} VALUE${option}. Then deploy again.`;
}
