export default {
  fetch(request: Request): Response {
    const name = new URL(request.url).searchParams.get("name") ?? "world";
    return new Response(`Hello, ${name}!\n`);
  },
};
