import { all, BOILERPLATES, type PublicRepository, type RepositoryKind } from "./public-repository.ts";
import { NEXT, NODE_SERVERS } from "./servers.ts";

/** Templates of Vercel for frameworks, each with the text of its page. */
function boilerplates(kind: RepositoryKind, entries: Readonly<Record<string, string>>): PublicRepository[] {
  return Object.entries(entries).map(([name, text]) => ({
    kind,
    repo: "vercel/examples",
    folder: `${BOILERPLATES}/${name}`,
    text,
  }));
}

const STATIC_SITES = [
  ...all("static site", [
    { repo: "mdn/beginner-html-site-styled", text: "Mozilla is cool" },
    { repo: "gabrielecirulli/2048", text: "2048" },
    { repo: "11ty/eleventy-base-blog", text: "Latest 3 Posts" },
    { repo: "google/eleventy-high-performance-blog", text: "Your Blog Name" },
    { repo: "hexojs/hexo-starter", text: "Hexo" },
    { repo: "gatsbyjs/gatsby-starter-blog", text: "Gatsby Starter Blog" },
    { repo: "gatsbyjs/gatsby-starter-default", text: "Gatsby" },
    { repo: "gatsbyjs/gatsby-starter-hello-world", text: "Hello world!" },
    { repo: "vuejs/docs", text: "The Progressive" },
    { repo: "withastro/astro", folder: "examples/basics", text: "Astro" },
    { repo: "withastro/astro", folder: "examples/blog", text: "Astro" },
    { repo: "withastro/astro", folder: "examples/portfolio", text: "Hello, my name is" },
    { repo: "withastro/astro", folder: "examples/minimal", text: "Astro" },
    { repo: "withastro/astro", folder: "examples/framework-react", text: "Hello, React!" },
    { repo: "chrismwilliams/astro-theme-cactus", text: "Cactus" },
    { repo: "netlify-templates/astro-toolbox", text: "Astro Toolbox" },
    { repo: "StartBootstrap/startbootstrap-clean-blog", text: "Clean Blog" },
  ]),
  ...boilerplates("static site", {
    "docusaurus-2": "My Site",
    eleventy: "Your Blog Name",
    hexo: "Hexo",
    gatsby: "Gatsby",
    vitepress: "VitePress",
    vuepress: "VuePress",
  }),
];

const SINGLE_PAGE_APPS = [
  ...all("single-page app", [
    { repo: "mdn/todo-react", text: "TodoMatic" },
    { repo: "vuejs/create-vue-templates", folder: "router-pinia", text: "You did it!" },
    { repo: "ahfarmer/calculator", text: "AC" },
    { repo: "satnaing/shadcn-admin", text: "Shadcn Admin" },
    // Replaces antfu-collective/icones, which needs a version of svg-packer that the registry of the test does not have.
    { repo: "vitejs/vite", folder: "packages/create-vite/template-vue-ts", text: "Get started" },
    { repo: "gothinkster/react-redux-realworld-example-app", text: "conduit" },
    { repo: "gothinkster/vue-realworld-example-app", text: "conduit" },
    {
      repo: "alan2207/bulletproof-react",
      rootDirectory: "apps/react-vite",
      variables: { VITE_APP_API_URL: "https://api.bulletproofapp.com", VITE_APP_ENABLE_API_MOCKING: "true" },
      text: "Bulletproof React",
    },
    { repo: "fastapi/full-stack-fastapi-template", rootDirectory: "frontend", text: "FastAPI" },
    { repo: "solidjs/templates", folder: "vanilla/basic", text: "Solid" },
    { repo: "solidjs/templates", folder: "vanilla/with-sass", text: "Solid" },
    { repo: "solidjs/templates", folder: "vanilla/with-unocss", text: "Solid" },
    { repo: "vuejs/create-vue-templates", folder: "typescript-router", text: "You did it!" },
    { repo: "vitejs/vite", folder: "packages/create-vite/template-preact-ts", text: "Get started" },
    { repo: "vitejs/vite", folder: "packages/create-vite/template-vanilla-ts", text: "Get started" },
    { repo: "solidjs/templates", folder: "vanilla/with-tailwindcss", text: "Hello tailwind!" },
    { repo: "solidjs/templates", folder: "vanilla/with-solid-router", text: "Home" },
    { repo: "vitejs/vite", folder: "packages/create-vite/template-react", text: "Get started" },
    { repo: "vitejs/vite", folder: "packages/create-vite/template-lit", text: "Get started" },
  ]),
  ...boilerplates("single-page app", {
    angular: "Angular",
    "create-react-app": "Edit src/App.js",
    "ionic-react": "Ionic App",
    ember: "EmberQuickstart",
    parcel: "Hello, Parcel!",
    preact: "Preact App",
    stencil: "Stencil",
    svelte: "Vite + Svelte",
    vite: "Vite + Vue",
    vue: "Welcome to Your Vue.js App",
  }),
];

const WORKERS = all("Worker", [
  { repo: "honojs/examples", folder: "basic", text: "Hono!!" },
  { repo: "honojs/examples", folder: "durable-objects", text: "Select a Durable Object" },
  { repo: "honojs/examples", folder: "jsx-ssr", text: "Post" },
  { repo: "cloudflare/templates", folder: "d1-template", text: "Successfully connected d1-template to D1" },
  // Replaces d1-starter-sessions-api-template, whose page is empty without scripts from esm.sh.
  { repo: "cloudflare/templates", folder: "react-router-hono-fullstack-template", text: "React Router" },
  { repo: "cloudflare/templates", folder: "react-starter-template", text: "Get started with Cloudflare" },
  { repo: "cloudflare/templates", folder: "to-do-list-kv-template", text: "Todo List" },
  { repo: "cloudflare/templates", folder: "remix-starter-template", text: "Remix" },
  { repo: "cloudflare/templates", folder: "workflows-starter-template", text: "Workflow" },
  { repo: "cloudflare/templates", folder: "openauth-template", text: "Continue" },
  { repo: "cloudflare/templates", folder: "hello-world-do-template", text: "Hello, World!" },
  { repo: "cloudflare/templates", folder: "durable-chat-template", text: "Chat!" },
  { repo: "cloudflare/templates", folder: "multiplayer-globe-template", text: "Where's everyone at?" },
  { repo: "cloudflare/templates", folder: "nodejs-http-server-template", text: "Node.js app on Workers" },
  { repo: "cloudflare/templates", folder: "vite-react-template", text: "Hono" },
  { repo: "cloudflare/templates", folder: "react-router-starter-template", text: "React Router" },
  { repo: "cloudflare/templates", folder: "astro-blog-starter-template", text: "Astro" },
  { repo: "cloudflare/templates", folder: "chanfana-openapi-template", path: "/openapi.json", text: "openapi" },
  { repo: "cloudflare/workers-chat-demo", text: "chat" },
  { repo: "cloudflare/worker-template-router", text: "Hello" },
  { repo: "cloudflare/d1-northwind", rootDirectory: "worker", path: "/api/status", text: "{}" },
  { repo: "trpc/trpc", folder: "examples/cloudflare-workers", text: "NOT_FOUND", path: "/" },
  { repo: "vercel/examples", folder: `${BOILERPLATES}/sveltekit-1`, text: "to your new SvelteKit app" },
]);

const WORKSPACES = all("workspace", [
  { repo: "excalidraw/excalidraw", text: "Excalidraw" },
  // Replaces sveltejs/realworld, which shows nothing without its API at api.realworld.show.
  { repo: "withastro/starlight", text: "Starlight" },
  { repo: "vuejs/pinia", text: "Pinia" },
  { repo: "t3-oss/create-t3-turbo", rootDirectory: "apps/tanstack-start", text: "T3" },
  // Replaces belgattitude/nextjs-monorepo-example, which needs a version of @httpx/treeu that the registry of the test does not have.
  {
    repo: "kriasoft/react-starter-kit",
    rootDirectory: "apps/app",
    variables: { VITE_APP_NAME: "Acme" },
    text: "Acme",
  },
]);

const refused = (language: string) => `${language} project. Node.js and Workers projects can be deployed.`;

const OTHER_LANGUAGES = all("other language", [
  { repo: "heroku/go-getting-started", text: refused("Go") },
  { repo: "heroku/python-getting-started", text: refused("Python") },
  { repo: "heroku/php-getting-started", text: refused("PHP") },
  { repo: "heroku/ruby-getting-started", text: refused("Ruby") },
  { repo: "heroku/java-getting-started", text: refused("Java") },
  { repo: "tokio-rs/mini-redis", text: refused("Rust") },
  { repo: "dotnet-architecture/eShopOnWeb", text: refused(".NET") },
  { repo: "dwyl/phoenix-chat-example", text: refused("Elixir") },
  { repo: "vercel/examples", folder: `${BOILERPLATES}/hugo`, text: refused("Hugo") },
  { repo: "honojs/starter", folder: "templates/deno", text: refused("Deno") },
]);

/** The list was written before its first run. Those whose packages or hosts cannot be reached are replaced, see the results. */
export const REPOSITORIES: readonly PublicRepository[] = [
  ...STATIC_SITES,
  ...SINGLE_PAGE_APPS,
  ...WORKERS,
  ...WORKSPACES,
  ...OTHER_LANGUAGES,
  ...NODE_SERVERS,
  ...NEXT,
];
