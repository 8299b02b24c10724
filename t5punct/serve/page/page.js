"use strict";
const $ = (id) => document.getElementById(id);
const EXAMPLE = "good morning everyone my name is maria and i want to talk about sleep how many of you slept eight hours last night raise your hands please well that is not many is it";
const SAID_CHARS = 400;  // of the captions that are seen
const asked_for = new URLSearchParams(location.search);

/* what both uses share */

function headers() {
  return $("token").value ? {Authorization: `Bearer ${$("token").value}`} : {};
}

function problemOf(status, body) {
  if (status === 401) $("token-label").hidden = false;
  const error = body && body.error;
  return error ? [error.found, error.expected && `expected ${error.expected}`, error.fix].filter(Boolean).join("; ") : `status ${status}`;
}

for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.addEventListener("click", () => show(tab));
  tab.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = tab.id === "tab-text" ? $("tab-live") : $("tab-text");
    show(other);
    other.focus();
  });
}

function show(shown) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.setAttribute("aria-selected", String(tab === shown));
    tab.tabIndex = tab === shown ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = tab !== shown;
  }
}

fetch("/healthz").then((answer) => answer.json()).then((state) => {
  $("about").textContent = `model ${state.model}, version ${state.version}`;
}).catch(() => {});

/* a transcript */

let file = null;  // the file that was opened; null: what stands in the field
let result = null;  // the last answer: its bytes, type and name

$("file").addEventListener("change", () => take($("file").files[0]));
$("input").addEventListener("input", () => { file = null; $("file").value = ""; });
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("input").addEventListener(kind, (event) => {
    event.preventDefault();
    $("input").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
}

async function take(chosen) {
  if (!chosen) return;
  const text = await chosen.text();
  $("input").value = text;
  file = chosen;
  $("status").textContent = `${chosen.name}, ${text.length.toLocaleString()} characters`;
}

function asked(to) {
  const form = new FormData();
  if (file) form.append("file", file);
  else form.append("text", $("input").value);
  if ($("style").value) form.append("style", $("style").value);
  if (to) form.append("to", to);
  return form;
}

$("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("problem").textContent = $("output").textContent = "";
  closeReview();
  $("status").textContent = "Punctuating …";
  const started = performance.now();
  const to = $("to").value;
  try {
    const answer = await fetch("/v1/punctuate", {method: "POST", body: asked(to), headers: headers()});
    if (!answer.ok) throw new Error(problemOf(answer.status, await answer.json().catch(() => null)));
    $("result").hidden = false;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const pieces = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      pieces.push(part.value);
      $("output").append(part.value);
    }
    result = {text: pieces.join(""), type: answer.headers.get("content-type"), name: nameOf(to)};
    const words = $("input").value.split(/\s+/).filter(Boolean).length;
    $("problem").textContent = answer.headers.get("t5punct-warning") ?? "";
    $("status").textContent = `About ${words.toLocaleString()} words in ${((performance.now() - started) / 1000).toFixed(1)} s`;
  } catch (error) {
    $("status").textContent = "";
    $("problem").textContent = error.message;
  }
});

function nameOf(to) {
  const name = file ? file.name : "transcript.txt";
  return to ? name.replace(/\.[^.]*$/, "") + (to === "text" ? ".txt" : `.${to}`) : name;
}

function save(text, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

$("download").addEventListener("click", () => save(result.text, result.type, result.name));

$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(result.text);
  $("status").textContent = "Copied";
});

$("open-review").addEventListener("click", async () => {
  if (!$("review").hidden) return closeReview();
  $("status").textContent = "Punctuating with alternatives …";
  const answer = await fetch("/v1/punctuate", {method: "POST", body: asked("html"), headers: headers()});
  if (!answer.ok) {
    $("problem").textContent = problemOf(answer.status, await answer.json().catch(() => null));
    return;
  }
  $("status").textContent = "";
  $("review").src = URL.createObjectURL(new Blob([await answer.text()], {type: "text/html"}));
  $("review").hidden = false;
  $("output").hidden = true;
  $("open-review").setAttribute("aria-expanded", "true");
});

function closeReview() {
  if ($("review").src) URL.revokeObjectURL($("review").src);
  $("review").removeAttribute("src");
  $("review").hidden = true;
  $("output").hidden = false;
  $("open-review").setAttribute("aria-expanded", "false");
}

/* live captions */

let socket = null;
let waiting = [];  // messages until the connection is there
let sentAt = [];  // when each word that is not committed yet was said
let said = "";  // all committed words
let coming = [];  // the words that may still change
let typing = null;  // the timer that types the example
let recognition = null;  // the browser's recogniser, where it has one
const shown = asked_for.get("show") || Math.random().toString(36).slice(2, 10);  // the name of this page's streams

function connect(name, fields) {
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/${name}?${new URLSearchParams(fields)}`;
  return new WebSocket(address, $("token").value ? ["t5punct", `bearer.${$("token").value}`] : ["t5punct"]);
}

function open() {
  $("live-warning").textContent = "";
  const fields = {policy: $("policy").value, provisional: "true", show: shown};
  if (["fixed", "delay"].includes(fields.policy)) fields.lookahead = $("lookahead").value;
  const opened = connect("stream", fields);
  opened.addEventListener("open", () => { for (const message of waiting.splice(0)) opened.send(message); });
  opened.addEventListener("message", (event) => { hear(JSON.parse(event.data)); });
  opened.addEventListener("close", (event) => {
    if (socket === opened) socket = null;
    if (![1000, 1005].includes(event.code)) $("live-problem").textContent = event.reason || "the connection was closed; is a token asked for?";
    if (event.code === 1006) $("token-label").hidden = false;
  });
  return opened;
}

function say(message) {
  $("live-problem").textContent = "";
  socket = socket || open();
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else waiting.push(JSON.stringify(message));
}

function sayWords(text) {
  const words = text.split(/\s+/).filter(Boolean);
  for (const word of words) {
    sentAt.push(performance.now());
    say({words: word});
  }
}

function hear(event) {
  if (event.warning) {
    $("live-warning").textContent = event.warning;
  } else if (event.provisional) {
    coming = event.provisional;
  } else if (event.clear) {
    said = "";
    coming = [];
  } else if (event.text !== undefined) {
    coming = coming.slice(1);  // the word that is committed now was the first of them
    if (event.text) said += (said ? " " : "") + event.text;
    const sent = sentAt.shift();
    if (sent !== undefined) {
      $("latency").textContent = `${event.delay_words} words and ${Math.round(performance.now() - sent)} ms after it was said; decided in ${event.decision_ms} ms`;
    }
  } else if (event.end) {
    coming = [];
  }
  showCaptions();
}

function showCaptions() {
  $("committed").textContent = said.slice(-SAID_CHARS);
  $("provisional").textContent = coming.join(" ");
  $("hint").hidden = Boolean(said || coming.length);
}

function end() {
  clearInterval(typing);
  typing = null;
  if (recognition) recognition.stop();
  if (socket) say({end: true});
  socket = null;
  sentAt = [];
}

$("typed").addEventListener("input", () => {
  const text = $("typed").value;
  const cut = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n")) + 1;
  if (!cut) return;
  sayWords(text.slice(0, cut));
  $("typed").value = text.slice(cut);
});
$("stop").addEventListener("click", () => {
  if ($("typed").value.trim()) sayWords($("typed").value);
  $("typed").value = "";
  end();
});
for (const id of ["policy", "lookahead"]) {
  $(id).addEventListener("input", () => {
    $("lookahead-words").textContent = `${$("lookahead").value} words`;
    $("lookahead-label").hidden = !["fixed", "delay"].includes($("policy").value);
    end();
  });
}
$("play").addEventListener("click", () => {
  clearInterval(typing);
  const words = EXAMPLE.split(" ");
  typing = setInterval(() => {
    if (words.length) sayWords(words.shift());
    else end();
  }, 300);
});
$("clear").addEventListener("click", () => {
  said = "";
  coming = [];
  $("latency").textContent = "";
  showCaptions();
  const is_open = Boolean(socket);
  say({clear: true});  // to those who watch
  if (!is_open) end();
});
$("save").addEventListener("click", () => save(`${said}\n`, "text/plain", "captions.txt"));
$("size").addEventListener("input", () => { $("captions").style.fontSize = `${$("size").value}rem`; });
$("full").addEventListener("click", () => $("captions").requestFullscreen());

/* the view for OBS: what another page says, on a transparent ground; its token stands behind the # */

$("watch").href = `/?view=captions&show=${shown}`;
$("watch").addEventListener("click", () => { $("watch").hash = encodeURIComponent($("token").value); });
if (asked_for.get("view") === "captions") {
  document.documentElement.classList.add("watching");
  $("token").value = decodeURIComponent(location.hash.slice(1));
  if (asked_for.get("size")) $("captions").style.fontSize = `${Number(asked_for.get("size"))}rem`;
  show($("tab-live"));
  watch();
}

function watch() {
  const watching = connect("watch", {show: shown});
  watching.addEventListener("message", (event) => hear(JSON.parse(event.data)));
  watching.addEventListener("close", () => setTimeout(watch, 1000));
}

const Recognition = window.SpeechRecognition || window.webkitSpeechRecognition;
if (Recognition) {
  recognition = new Recognition();
  recognition.continuous = true;
  recognition.onresult = (event) => {
    for (const heard of [...event.results].slice(event.resultIndex)) {
      if (heard.isFinal) sayWords(heard[0].transcript.toLowerCase());
    }
  };
  recognition.onerror = (event) => { $("live-problem").textContent = `the browser's recogniser: ${event.error}`; };
  recognition.onend = () => { $("speak").setAttribute("aria-pressed", "false"); };
  $("speak").hidden = $("speak-note").hidden = false;
  $("speak").addEventListener("click", () => {
    const on = $("speak").getAttribute("aria-pressed") === "true";
    $("speak").setAttribute("aria-pressed", String(!on));
    if (on) recognition.stop();
    else recognition.start();
  });
}
