/** The examples of this service that a first deployment may use. They need no network. */
export const EXAMPLES = [
  { repo: "examples/guestbook", name: "Guestbook", description: "A Worker with a SQL database and a page" },
  { repo: "examples/hello", name: "Hello", description: "The smallest Worker" },
  { repo: "examples/starter-api", name: "API", description: "Procedures that agents can call" },
  { repo: "examples/site", name: "Website", description: "A static site" },
] as const;
