import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { prefetchPage } from "./prefetch-page.ts";
import { queryClient } from "./query-client.ts";
import { router } from "./router.tsx";
import { applyTheme } from "./theme.ts";
import "./styles.css";

applyTheme();
prefetchPage();
const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no element #root");
// Until the first page can be shown, the document shows its own text.
await router.load();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
