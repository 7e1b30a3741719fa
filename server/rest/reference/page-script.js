const search = document.getElementById("search");
const matches = document.getElementById("matches");
/** The texts are read at the first search. */
let entries;

function readEntries() {
  return [...document.querySelectorAll("article")].map((article) => ({
    article,
    link: document.querySelector(`nav a[href="#${article.id}"]`).parentElement,
    text: article.textContent.toLowerCase(),
  }));
}

/** Shows the operations whose text has every word, and the sections with such an operation. */
function filter() {
  entries ??= readEntries();
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const { article, link, text } of entries) {
    const isFound = words.every((word) => text.includes(word));
    article.hidden = !isFound;
    link.hidden = !isFound;
    if (isFound) found++;
  }
  for (const section of document.querySelectorAll("main > section"))
    section.hidden = words.length > 0 && section.querySelector("article:not([hidden])") === null;
  for (const list of document.querySelectorAll("nav ul"))
    list.hidden = list.previousElementSibling.hidden = list.querySelector("li:not([hidden])") === null;
  for (const text of document.querySelectorAll("header p")) text.hidden = words.length > 0;
  matches.textContent = words.length === 0 ? "" : `${found} ${found === 1 ? "operation" : "operations"}`;
}

/** A link to a schema or an operation that the search has hidden ends the search. */
function showTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null || target.closest("[hidden]") === null) return;
  search.value = "";
  filter();
  target.scrollIntoView();
}

async function copyCall(button) {
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 2_000);
}

search.addEventListener("input", filter);
addEventListener("hashchange", showTarget);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape" && document.activeElement === search) {
    search.value = "";
    filter();
  }
});
document.addEventListener("click", ({ target }) => {
  if (target.matches(".copy")) void copyCall(target);
});
// Browsers offer the clipboard only to pages from HTTPS and from this machine.
if (navigator.clipboard !== undefined) document.documentElement.classList.add("can-copy");
// A browser restores the value of the field when it goes back to the page.
if (search.value !== "") filter();
