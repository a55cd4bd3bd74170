// The console works without this file; with it, it works by keyboard.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const SHORTCUTS = "safepassage-shortcuts";
  const HEARTBEAT_MS = 60000;
  const decide = byId("decide");
  const correction = byId("correction");

  // Letter keys can be switched off: speech input and screen readers type letters of their own.
  const toggle = byId("shortcuts");
  const shortcutsOn = () => localStorage.getItem(SHORTCUTS) !== "off";
  if (toggle) {
    toggle.checked = shortcutsOn();
    toggle.addEventListener("change", () =>
      localStorage.setItem(SHORTCUTS, toggle.checked ? "on" : "off"));
  }

  const typing = (element) => element.matches("input:not([type=checkbox]), textarea, select");

  document.addEventListener("keydown", (event) => {
    if (correction && correction.open && correctionKey(event)) return;
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (!shortcutsOn() || typing(event.target)) return;
    const target = [...document.querySelectorAll("[data-key]")]
      .find((element) => element.dataset.key === event.key.toLowerCase() && !element.disabled);
    if (!target) return;
    event.preventDefault();
    target.click();
  });

  // In a value as JSON, and with Shift, Enter begins a line; in an input method it chooses a word.
  function saves(event) {
    if (event.ctrlKey || event.metaKey) return true;
    return event.target.matches("input, textarea") && !event.target.closest(".field.json")
      && !event.shiftKey && !event.isComposing;
  }

  function correctionKey(event) {
    if (event.key === "Escape") {
      correction.open = false;
      byId("correct").focus();
    } else if (event.key === "Enter" && correction.contains(event.target) && saves(event)) {
      byId("save-correction").click();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  if (correction) {
    const first = correction.querySelector("form input:not([type=hidden]), form textarea");
    const begin = () => { if (correction.open) { first.focus(); first.select(); } };
    correction.addEventListener("toggle", begin);
    begin();
  }

  // Reasons and a comment: W goes there, Escape comes back.
  const why = byId("why");
  if (why) {
    why.addEventListener("toggle", () => { if (why.open) why.querySelector("button").focus(); });
    why.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      why.open = false;
      byId("because").focus();
    });
  }

  // One press, one decision.
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) { event.preventDefault(); return; }
    event.target.dataset.sent = "yes";
  });
  window.addEventListener("pageshow", () =>
    document.querySelectorAll("form").forEach((form) => delete form.dataset.sent));

  // More of the document, without losing what was typed.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-replace]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const answer = await fetch(link.href);
    if (!answer.ok) { location.assign(link.href); return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(link.dataset.replace);
    byId(link.dataset.replace).replaceWith(fresh);
    showPassage();
    fresh.querySelector(".text").focus({ preventScroll: true });
  });

  function showPassage() {
    const text = document.querySelector(".document .text");
    const mark = text && text.querySelector("mark");
    if (!mark) return;
    const offset = mark.getBoundingClientRect().top - text.getBoundingClientRect().top;
    text.scrollTop += offset - text.clientHeight / 3;
  }

  for (const sheet of document.querySelectorAll(".pages .sheet")) {
    const box = sheet.querySelector(".evidence");
    if (!box) continue;
    const offset = box.getBoundingClientRect().top - sheet.getBoundingClientRect().top;
    sheet.scrollTop += offset - sheet.clientHeight / 3;
  }

  // Somebody who reads keeps the case.
  const open = document.querySelector("[data-case]");
  if (open && decide && !byId("supports").disabled) {
    setInterval(() => {
      if (document.hidden) return;
      const body = new URLSearchParams({ csrf: decide.elements.csrf.value });
      fetch(`/cases/${open.dataset.case}/lease`, { method: "POST", body });
    }, HEARTBEAT_MS);
  }

  // A live region speaks when it changes, not when it is loaded.
  const status = byId("status");
  if (status && status.textContent.trim()) {
    const children = [...status.childNodes];
    status.replaceChildren();
    setTimeout(() => status.replaceChildren(...children), 100);
  }

  showPassage();
  const heading = byId("case-heading");
  if (heading && !document.querySelector("[autofocus]") && !(correction && correction.open)) {
    heading.focus({ preventScroll: true });
  }
})();
