/** Folders of tests, and of examples of a library. They are suggested only if there is nothing else. */
const SIDE_FOLDER =
  /(^|\/)(tests?|__tests__|e2e|specs?|cypress|playwright|fixtures?|__fixtures__|examples?|samples?|demos?|playgrounds?|sandbox|bench(marks?)?)(\/|$)/i;

/** Removes the folders of tests and examples from a list, unless it has no others. */
export function withoutSideFolders<T>(entries: readonly T[], folderOf: (entry: T) => string): T[] {
  const main = entries.filter((entry) => !SIDE_FOLDER.test(folderOf(entry)));
  return main.length > 0 ? main : [...entries];
}
