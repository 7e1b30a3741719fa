/** A project that a public create tool writes, and how to see that its app responds. */
export interface Template {
  name: string;
  /** The npm package of the create tool. The newest version is used. */
  tool: string;
  /** The arguments of the tool. `app` is the folder that it creates. */
  args: readonly string[];
  /** A second tool, which changes the project. It runs in the folder of the project. */
  second?: { tool: string; args: readonly string[] };
  /** Text that the response of the app contains. */
  marker: string;
  /** The path to request; by default `/`. */
  path?: string;
}

/** Options of create-cloudflare that answer all of its questions. */
const CLOUDFLARE = ["--no-deploy", "--no-git", "--no-open", "--accept-defaults", "--no-agents"];

/** Options of create-better-t-stack that leave out everything that has not been chosen. */
const BETTER_T_STACK =
  "--auth none --database none --orm none --db-setup none --addons none --examples none --package-manager npm --no-git --no-install --payments none --web-deploy none --server-deploy none".split(
    " ",
  );
const NO_BACKEND = ["--backend", "none", "--runtime", "none", "--api", "none", ...BETTER_T_STACK];

const vite = (name: string, template: string): Template => ({
  name: `Vite, ${name}`,
  tool: "create-vite",
  args: ["app", "--template", template, "--no-interactive"],
  marker: "<title>app</title>",
});

const cloudflare = (name: string, args: readonly string[], marker: string): Template => ({
  name: `${name} of Cloudflare`,
  tool: "create-cloudflare",
  args: ["app", ...args, ...CLOUDFLARE],
  marker,
});

const svelteKit = (name: string, template: string, marker: string): Template => ({
  name: `SvelteKit, ${name}`,
  tool: "sv",
  args: ["create", "app", "--template", template, "--types", "ts", "--no-add-ons", "--no-install"],
  marker,
});

/** Starts each tool as its documentation does, with the options that it needs without a terminal. */
export const TEMPLATES: readonly Template[] = [
  vite("TypeScript", "vanilla-ts"),
  vite("React", "react-ts"),
  vite("Vue", "vue-ts"),
  vite("Svelte", "svelte-ts"),
  vite("Solid", "solid-ts"),
  vite("Preact", "preact-ts"),
  vite("Lit", "lit-ts"),
  vite("Qwik", "qwik-ts"),
  { name: "Vue", tool: "create-vue", args: ["app", "--default"], marker: "Vite App" },
  cloudflare("Worker", ["--type", "hello-world", "--lang", "ts"], "Hello World!"),
  cloudflare("Worker with static files", ["--type", "hello-world-with-assets", "--lang", "ts"], "Hello, World!"),
  cloudflare("Durable Object", ["--type", "hello-world-durable-object", "--lang", "ts"], "Hello, world!"),
  cloudflare("React", ["--framework", "react", "--platform", "workers"], "<title>"),
  svelteKit("minimal", "minimal", "Welcome to SvelteKit"),
  svelteKit("demo", "demo", "SvelteKit"),
  {
    name: "TanStack Start",
    tool: "@tanstack/cli",
    args: ["create", "app", "--yes", "--no-install", "--no-git"],
    marker: "TanStack",
  },
  {
    name: "TanStack Start with its Cloudflare add-on",
    tool: "@tanstack/cli",
    args: ["create", "app", "--yes", "--no-install", "--no-git", "--deployment", "cloudflare"],
    marker: "TanStack",
  },
  {
    name: "Angular",
    tool: "@angular/cli",
    args: ["new", "app", "--defaults", "--skip-install", "--skip-git"],
    marker: "<app-root",
  },
  {
    name: "Next.js",
    tool: "create-next-app",
    args: ["app", "--yes", "--skip-install", "--disable-git"],
    marker: "Next.js",
  },
  {
    name: "Next.js with OpenNext",
    tool: "create-next-app",
    args: ["app", "--yes", "--empty", "--skip-install", "--disable-git"],
    second: { tool: "@opennextjs/cloudflare", args: ["migrate"] },
    marker: "Hello world!",
  },
  { name: "Qwik City", tool: "create-qwik", args: ["empty", "app"], marker: "Qwik" },
  { name: "Waku", tool: "create-waku", args: ["--project-name", "app", "--template", "01_basic"], marker: "Waku" },
  {
    name: "Docusaurus",
    tool: "create-docusaurus",
    args: ["app", "classic", "--skip-install", "--javascript"],
    marker: "Docusaurus",
  },
  { name: "Express", tool: "express-generator", args: ["--view=ejs", "app"], marker: "Welcome to Express" },
  { name: "Fastify", tool: "fastify-cli", args: ["generate", "app"], marker: `{"root":true}` },
  {
    name: "NestJS",
    tool: "@nestjs/cli",
    args: ["new", "app", "--skip-install", "--skip-git", "--package-manager", "npm"],
    marker: "Hello World!",
  },
  {
    name: "React Router of Better-T-Stack",
    tool: "create-better-t-stack",
    args: ["app", "--frontend", "react-router", ...NO_BACKEND],
    marker: "<title>",
  },
  {
    name: "Nuxt of Better-T-Stack",
    tool: "create-better-t-stack",
    args: ["app", "--frontend", "nuxt", ...NO_BACKEND],
    marker: "__nuxt",
  },
  {
    name: "Hono of Better-T-Stack",
    tool: "create-better-t-stack",
    args: ["app", "--frontend", "none", "--backend", "hono", "--runtime", "node", "--api", "trpc", ...BETTER_T_STACK],
    marker: "OK",
  },
  {
    name: "Nuxt",
    tool: "create-nuxt",
    args: ["app", "--template", "minimal", "--no-install", "--packageManager", "npm", "--no-modules", "--no-gitInit"],
    marker: "__nuxt",
  },
  {
    name: "Astro",
    tool: "create-astro",
    args: ["app", "--template", "basics", "--no-install", "--no-git", "--yes"],
    marker: "Astro",
  },
  {
    name: "React Router",
    tool: "create-react-router",
    // Without the last option, it does not say why it fails.
    args: ["app", "--no-install", "--no-git-init", "--yes", "--debug"],
    marker: "React Router",
  },
  {
    name: "Hono for Workers",
    tool: "create-hono",
    args: ["app", "--template", "cloudflare-workers", "--install", "--pm", "npm"],
    marker: "Hello Hono!",
  },
  {
    name: "Hono for Node.js",
    tool: "create-hono",
    args: ["app", "--template", "nodejs", "--install", "--pm", "npm"],
    marker: "Hello Hono!",
  },
  {
    name: "SolidStart",
    tool: "create-solid",
    args: ["app", "--solidstart", "--v2", "--template", "basic", "--ts"],
    marker: "Hello world!",
  },
];
