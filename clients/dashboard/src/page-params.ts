import { useParams } from "@tanstack/react-router";

/** Returns a parameter of the path of the page, such as `id`. */
export function usePathParameter(name: string): string {
  const parameters: Record<string, string | undefined> = useParams({ strict: false });
  const value = parameters[name];
  if (value === undefined) throw new Error(`The path of this page has no parameter ${name}.`);
  return value;
}
