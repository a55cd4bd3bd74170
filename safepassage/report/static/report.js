"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;
  const search = document.querySelector("input[type=search]");
  const keys = document.getElementById("keys");
  const cards = all(".card");
  const marks = all("mark[data-v], .box[data-v]").map((place) => ({
    place,
    of: place.dataset.v.split(" "),
  }));
  const places = new Map(cards.map((card) => [card.dataset.v, []]));
  for (const mark of marks) for (const v of mark.of) places.get(v)?.push(mark.place);
  const hidden = new Set();
  let chosen = null;
  let asPages = false;

  function choose(card, from) {
    for (const place of all(".chosen")) place.classList.remove("chosen");
    chosen = card;
    if (!card) return;
    card.classList.add("chosen");
    const own = places.get(card.dataset.v);
    for (const place of own) place.classList.add("chosen");
    const seen = own.find((place) => place.getClientRects().length);
    if (from !== "mark" && seen) seen.scrollIntoView({ block: "center" });
    if (from !== "card") card.scrollIntoView({ block: "nearest" });
    if (from === "keys") card.focus({ preventScroll: true });
  }

  function show() {
    const wanted = search.value.trim().toLocaleLowerCase();
    const gone = new Set();
    for (const card of cards) {
      const found = !wanted || card.textContent.toLocaleLowerCase().includes(wanted);
      card.hidden = hidden.has(card.dataset.decision) || !found;
      if (card.hidden) gone.add(card.dataset.v);
    }
    for (const { place, of } of marks) {
      const plain = of.every((v) => gone.has(v));
      if (place.matches("mark")) place.classList.toggle("plain", plain);
      else place.toggleAttribute("hidden", plain);
    }
    for (const filter of all("[data-filter]")) {
      filter.setAttribute("aria-pressed", String(!hidden.has(filter.dataset.filter)));
    }
    if (chosen?.hidden) choose(null);
  }

  function toggle(decision) {
    if (!hidden.delete(decision)) hidden.add(decision);
    show();
  }

  function step(by) {
    const open = cards.filter((card) => !card.hidden);
    if (!open.length) return;
    const at = open.indexOf(chosen);
    const next = at < 0 ? (by > 0 ? 0 : open.length - 1) : at + by;
    choose(open[Math.min(Math.max(next, 0), open.length - 1)], "keys");
  }

  function turn(pages) {
    asPages = pages;
    for (const section of all("section[data-pages]")) {
      section.querySelector(".text").hidden = pages;
      section.querySelector(".pages").hidden = !pages;
    }
    tools.pages.textContent = pages ? "Text" : "Pages";
    if (chosen) choose(chosen);
  }

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme ?? (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  }

  const tools = Object.fromEntries(all("[data-tool]").map((tool) => [tool.dataset.tool, tool]));
  tools.pages.hidden = !document.querySelector("section[data-pages]");
  tools.pages.addEventListener("click", () => turn(!asPages));
  tools.theme.addEventListener("click", theme);
  tools.keys.addEventListener("click", () => keys.showModal());
  search.addEventListener("input", show);
  document.addEventListener("click", (event) => {
    const filter = event.target.closest("[data-filter]");
    if (filter) return toggle(filter.dataset.filter);
    const place = event.target.closest("mark[data-v], .box[data-v]");
    if (place && !place.classList.contains("plain")) {
      const of = place.dataset.v.split(" ");
      const open = cards.filter((card) => of.includes(card.dataset.v) && !card.hidden);
      const next = open[(open.indexOf(chosen) + 1) % open.length];
      return choose(next, "mark");
    }
    const card = event.target.closest(".card");
    if (card) choose(card, "card");
  });
  const filters = all("[data-filter]").map((filter) => filter.dataset.filter);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      search.blur();
      return choose(null);
    }
    if (event.target === search || keys.open) return;
    const done = {
      j: () => step(1),
      k: () => step(-1),
      1: () => toggle(filters[0]),
      2: () => toggle(filters[1]),
      3: () => toggle(filters[2]),
      "/": () => search.focus(),
      p: () => tools.pages.hidden || turn(!asPages),
      t: theme,
      "?": () => keys.showModal(),
    }[event.key];
    if (!done) return;
    event.preventDefault();
    done();
  });
  turn(false);
})();
