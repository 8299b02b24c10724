"use strict";
// The words of the page: each span of `main` is one.  What the model said of it stands in its data attributes:
// p: how sure its mark is, in percent; k: its capitals; l: its mark; s: the word without it; f: if its letters may change,
// the word in lower case, as a sentence begins with it, and in capitals; c: quotes behind the mark; a: other marks with
// their percent, as ".31 ?5 2"; t: when it was spoken, in seconds.

const byId = (id) => document.getElementById(id);
const [main, card, tip, told] = [document.querySelector("main"), byId("card"), byId("tip"), byId("status")];
const DASH = /[-–—]/, ENDS = /[.?!…]/, KEYS = ",.?!:;-", COMMON = ["", ",", ".", "?"];
const OPENINGS = ["", "¿", "¡"], HEAD = /^["“„«‘([{¿¡]*/;  // marks before a word, behind its quotes
const NAMES = { "": "no mark", ",": "comma", ".": "full stop", "?": "question mark", "!": "exclamation mark",
  ":": "colon", ";": "semicolon", "-": "dash" };

function openingOf(stem) {
  return stem.match(HEAD)[0].match(/[¿¡]/)?.[0] ?? "";
}
function reopened(stem, opening) {
  return openingOf(stem) === opening ? stem : stem.replace(HEAD, (head) => head.replace(/[¿¡]/g, "") + opening);
}
function wordOf(element, place) {
  const { p = 100, k = 100, l: label = "", f, c: closers = "", a = "", t } = element.dataset;
  const text = element.textContent, stem = element.dataset.s ?? text;
  const others = a.split(" ").filter(Boolean).map((one) => one.match(/^(\D*)(\d+)$/).slice(1));
  return { element, place, text, stem, closers, label, others, sure: +p, caseSure: +k, seconds: t,
    forms: f?.split(" ") ?? [stem, stem, stem], old: { stem, label, opening: openingOf(stem) }, follows: false };
}
const words = Array.from(main.querySelectorAll("span"), wordOf);
const wordAt = new Map(words.map((word) => [word.element, word]));
const isCased = words.some((word) => word.stem !== word.forms[0]);
const isOpened = words.some((word) => word.old.opening);
byId("opening").hidden = !isOpened;
let current = null, isSaved = true;

// How words are written: marks touch the word and go inside closing quotes, a dash stands apart.
function added(word, marks) {
  const rest = word.endsWith(".") && marks.startsWith(".") ? marks.slice(1) : marks;
  return word + Array.from(rest, (mark) => (DASH.test(mark) ? ` ${mark}` : mark)).join("");
}
function spelled(stem, closers, label) {
  const dash = label.search(DASH), cut = dash < 0 ? label.length : dash;
  return added(added(stem, label.slice(0, cut)) + closers, label.slice(cut));
}

const isEdited = (word) => word.label !== word.old.label || word.stem !== word.old.stem;
const isDoubt = (word) => Math.min(word.sure, word.caseSure) < +byId("threshold").value;
const clock = (s) => (s >= 3600 ? `${Math.floor(s / 3600)}:` : "") +
  `${String(Math.floor(s / 60) % 60).padStart(s >= 3600 ? 2 : 1, "0")}:${String(Math.floor(s % 60)).padStart(2, "0")}`;
const named = (label) => NAMES[label] ?? Array.from(label, (mark) => NAMES[mark] ?? mark).join(" ");

function write(word) {
  word.element.textContent = isEdited(word) ? spelled(word.stem, word.closers, word.label) : word.text;
  word.element.classList.toggle("edited", isEdited(word));
  isSaved = false;
}
function put(word, label) {
  const next = words[word.place + 1], ended = ENDS.test(word.label), [lower, begun] = next?.forms ?? [];
  word.label = label;
  write(word);
  if (next && isCased && !ended && ENDS.test(label) && next.stem === lower) {
    next.follows = begun !== lower;  // the capital goes again with the mark
    next.stem = begun;
    write(next);
  } else if (next?.follows && ended && !ENDS.test(label)) {
    next.follows = false;
    next.stem = lower;
    write(next);
  }
  show(word);
}
function turnCase(word) {
  const cycle = [...new Set([...word.forms, reopened(word.old.stem, openingOf(word.stem))])];
  word.stem = cycle[(cycle.indexOf(word.stem) + 1) % cycle.length];
  word.follows = false;
  write(word);
  show(word);
}
function open(word, opening) {
  word.stem = reopened(word.stem, opening);
  word.forms = word.forms.map((form) => reopened(form, opening));
}
function turnOpening(word) {
  open(word, OPENINGS[(OPENINGS.indexOf(openingOf(word.stem)) + 1) % OPENINGS.length]);
  write(word);
  show(word);
}
function undo(word) {
  open(word, word.old.opening);
  word.stem = word.old.stem;
  word.follows = false;
  put(word, word.old.label);
}

// What is shown of a word: marks with their percent; then the common ones that the model did not name.
function choices(word) {
  const found = new Map([[word.old.label, word.sure], ...word.others.map(([label, percent]) => [label, +percent])]);
  for (const label of [word.label, ...COMMON]) if (!found.has(label)) found.set(label, null);
  return [...found];
}
function about(word) {
  const when = words.slice(0, word.place + 1).findLast((one) => one.seconds !== undefined)?.seconds;
  const parts = when === undefined ? [] : [clock(when)];
  if (word.caseSure < 95) parts.push(`capitals ${word.caseSure} % sure`);
  if (isEdited(word)) parts.push(`was “${word.text}”`);
  return parts.join(" · ");
}
// Below an element; `gap`: how far, so that a line of text between them stays in sight.
function beside(box, element, gap) {
  box.hidden = false;
  const place = Array.from(element.getClientRects()).at(-1), width = document.documentElement.clientWidth;
  box.style.left = `${Math.max(8, Math.min(place.left, width - box.offsetWidth - 8)) + scrollX}px`;
  box.style.top = `${place.bottom + gap + scrollY}px`;
}
function show(word) {
  tip.hidden = true;
  byId("about").textContent = about(word);
  byId("about").hidden = !about(word);
  byId("choices").replaceChildren(...choices(word).map(([label, percent], place) => {
    const button = document.createElement("button"), [key, sure] = [document.createElement("kbd"), document.createElement("small")];
    key.textContent = place + 1;
    sure.textContent = percent === null ? "" : ` ${percent} %`;
    button.type = "button";
    button.append(key, ` ${spelled(word.stem, word.closers, label)}`, sure);
    button.ariaLabel = named(label) + sure.textContent;
    button.ariaPressed = String(label === word.label);
    button.addEventListener("click", () => { put(word, label); word.element.focus(); });
    return button;
  }));
  byId("other").value = "";
  beside(card, word.element, 8 + parseFloat(getComputedStyle(main).lineHeight));
  tell();
}
function hint(word) {
  const lines = [[word.old.label, word.sure], ...word.others].map(([label, percent]) =>
    `${spelled(word.stem, word.closers, label)}  ${percent} % (${named(label)})`);
  tip.textContent = [...lines, about(word)].filter(Boolean).join("\n");
  beside(tip, word.element, 6);
}
function tell() {
  const doubts = words.filter(isDoubt), place = doubts.indexOf(current), n = words.filter(isEdited).length;
  const found = place < 0 ? `${doubts.length} ${doubts.length === 1 ? "doubt" : "doubts"}` : `Doubt ${place + 1} of ${doubts.length}`;
  told.textContent = n ? `${found}, ${n} changed` : found;
}

function select(word) {
  leave();
  current = word;
  const element = word.element;
  element.setAttribute("aria-current", "true");
  element.setAttribute("role", "button");
  if (!element.hasAttribute("tabindex")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
  show(word);
}
function leave() {
  current?.element.removeAttribute("aria-current");
  current = null;
  card.hidden = tip.hidden = true;
  tell();
}
function jump(step) {
  const doubts = words.filter(isDoubt), from = current ? current.place : step > 0 ? -1 : words.length;
  const ahead = step > 0 ? doubts.find((word) => word.place > from) : doubts.findLast((word) => word.place < from);
  const found = ahead ?? doubts.at(step > 0 ? 0 : -1);
  if (found) select(found);
}
// Doubtful words are reached by Tab, too.  They are spans with the role of a button: a real one is a box of its own,
// which breaks the order of words where scripts of both directions meet.
function mark() {
  byId("shown").textContent = `${byId("threshold").value} %`;
  for (const word of words) {
    const { element } = word, doubtful = isDoubt(word);
    element.classList.toggle("doubt", doubtful);
    element.style.setProperty("--sure", Math.min(word.sure, word.caseSure) / 100);
    if (doubtful) {
      element.setAttribute("role", "button");
      element.tabIndex = 0;
    } else if (word !== current) {
      element.removeAttribute("role");
      element.removeAttribute("tabindex");
    }
  }
  tell();
}
function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([main.textContent], { type: "text/plain;charset=utf-8" }));
  link.download = main.dataset.save;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  isSaved = true;
}

function onWordKey(event) {
  const { key } = event, digit = /^[1-9]$/.test(key) ? choices(current)[key - 1] : undefined;
  const forward = (key === "ArrowRight") === (getComputedStyle(current.element).direction === "ltr");
  if (digit) put(current, digit[0]);
  else if (KEYS.includes(key)) put(current, key);
  else if (key === "Backspace" || key === "Delete") put(current, "");
  else if (key === "c") turnCase(current);
  else if (key === "o" && isOpened) turnOpening(current);
  else if (key === "u") undo(current);
  else if (key === "ArrowLeft" || key === "ArrowRight") select(words[current.place + (forward ? 1 : -1)] ?? current);
  else if (key === "Enter" || key === " ") byId("choices").firstChild.focus();
  else return;
  event.preventDefault();
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    const { element } = current ?? {};
    if (card.contains(document.activeElement)) element.focus();
    else leave();
  } else if (event.target === byId("other")) return;
  else if (event.key === "n") jump(1);
  else if (event.key === "p") jump(-1);
  else if (event.key === "s") save();
  else if (current && event.target === current.element) onWordKey(event);
});
main.addEventListener("focusin", ({ target }) => {
  const word = wordAt.get(target);
  if (word && word !== current) select(word);
});
document.addEventListener("click", ({ target }) => {
  const word = wordAt.get(target);
  if (word) select(word);
  else if (current && main.contains(target)) leave();
});
main.addEventListener("pointerover", ({ target }) => {
  const word = wordAt.get(target);
  if (word && word !== current && isDoubt(word)) hint(word);
});
main.addEventListener("pointerout", () => { tip.hidden = true; });
byId("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  // marks only: letters, digits and spaces would change the words
  put(current, Array.from(byId("other").value).filter((mark) => /[\p{P}\p{S}]/u.test(mark)).join(""));
  current.element.focus();
});
byId("case").addEventListener("click", () => turnCase(current));
byId("opening").addEventListener("click", () => turnOpening(current));
byId("undo").addEventListener("click", () => undo(current));
byId("next").addEventListener("click", () => jump(1));
byId("previous").addEventListener("click", () => jump(-1));
byId("save").addEventListener("click", save);
byId("threshold").addEventListener("input", mark);
window.addEventListener("resize", () => current && show(current));
window.addEventListener("beforeunload", (event) => { if (!isSaved) event.preventDefault(); });

new ResizeObserver(([{ target }]) => {  // words are not scrolled to behind the header
  document.documentElement.style.scrollPaddingTop = `${target.offsetHeight}px`;
}).observe(document.querySelector("header"));
for (const line of main.querySelectorAll("p")) {
  const first = line.querySelector("[data-t]");
  if (first) line.dataset.time = clock(first.dataset.t);
}
main.classList.toggle("timed", words.some((word) => word.seconds !== undefined));
mark();
