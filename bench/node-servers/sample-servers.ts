import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type BenchRepository, createBenchRepository } from "../support/bench-repository.ts";

export interface SampleServer {
  name: string;
  title: string;
  files: Readonly<Record<string, string>>;
  changing: string;
}

export const EXPRESS: SampleServer = {
  name: "express",
  title: "Express",
  files: {
    "package.json": JSON.stringify({
      name: "express-sample",
      private: true,
      type: "module",
      scripts: { start: "node server.js" },
      dependencies: { express: "5.3.0" },
    }),
    "server.js": `import express from "express";
const app = express();
app.get("/", (request, response) => response.send("Hello"));
app.listen(process.env.PORT);
`,
  },
  changing: "change.js",
};

export const NEXT: SampleServer = {
  name: "next",
  title: "Next.js",
  files: {
    "package.json": JSON.stringify({
      name: "next-sample",
      private: true,
      scripts: { build: "next build", start: "next start" },
      dependencies: { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" },
    }),
    "app/layout.js": `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
    "app/page.js": `export const dynamic = "force-dynamic";
export default function Page() {
  return <p>{new Date().toISOString()}</p>;
}
`,
    ".gitignore": ".next\nnode_modules\n",
  },
  changing: "app/change.js",
};

/** Creates the repository of a server. Needs the package registry. */
export async function createSampleServer(
  folder: string,
  { name, files, changing }: SampleServer,
  signal: AbortSignal,
): Promise<BenchRepository> {
  for (const [file, text] of Object.entries(files)) {
    const target = path.join(folder, name, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  return createBenchRepository(folder, { name, changing }, signal);
}
