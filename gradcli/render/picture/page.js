"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const figures = all("figure");
  const [range, search, passes] = [one("input[type=range]"), one("input[type=search]"), one("select")];
  const [told, numbers, place, found] = ["told", "numbers", "place", "found"].map((id) => document.getElementById(id));
  const lines = new Map(all("[data-line]").map((line) => [line.dataset.line, line]));
  let pass = 0, view = data.passes[0].view, chosen = null;

  const figure = () => figures.find((f) => +f.dataset.pass === pass && +f.dataset.view === view);
  const picture = () => figure().querySelector("svg");
  const boxes = () => all("g.box", picture());
  const wires = () => all("g.wire", picture());
  const linesOf = (box) => (box.dataset.lines || "").split(" ").filter(Boolean);
  const clear = (name) => all("." + name).forEach((e) => e.classList.remove(name));

  // ---- which picture

  function show(nextPass, nextView, from) {
    const before = from ? from.getBoundingClientRect() : null;
    const members = from ? (from.dataset.members || from.dataset.node || "").split(" ") : [];
    pass = nextPass;
    view = nextView;
    figures.forEach((f) => { f.hidden = +f.dataset.pass !== pass || +f.dataset.view !== view; });
    all("button[data-view]").forEach((b) => {
      b.hidden = +b.dataset.view >= data.passes[pass].views;
      b.setAttribute("aria-pressed", String(+b.dataset.view === view));
    });
    range.max = data.passes[pass].steps.length;
    if (+range.value > +range.max) range.value = range.max;
    leave();
    walk();
    look();
    if (!before) return;
    const same = boxes().find((b) => members.includes(b.dataset.node)) ||
      boxes().find((b) => (b.dataset.members || "").split(" ").includes(members[0]));
    if (!same) return;
    const now = same.getBoundingClientRect();
    one(".pictures").scrollLeft += now.left - before.left;
    window.scrollBy(0, now.top - before.top);
    same.focus({ preventScroll: true });
  }

  function open(fold) {
    const more = view + 1;
    if (more < data.passes[pass].views) show(pass, more, fold);
    else choose(fold);
  }

  // ---- the ways through a box, its lines, its numbers

  function ways(box) {
    const [up, down] = [new Map(), new Map()];
    for (const wire of wires()) {
      const { from, to } = wire.dataset;
      (up.get(to) || up.set(to, []).get(to)).push([from, wire]);
      (down.get(from) || down.set(from, []).get(from)).push([to, wire]);
    }
    const way = new Set([box]);
    for (const next of [up, down]) {
      const pending = [box.id], seen = new Set(pending);
      for (const id of pending)
        for (const [other, wire] of next.get(id) || []) {
          way.add(wire);
          if (!seen.has(other)) { seen.add(other); pending.push(other); }
        }
      seen.forEach((id) => way.add(document.getElementById(id)));
    }
    return way;
  }

  function mark(box) {
    leave();
    picture().classList.add("tracing");
    ways(box).forEach((e) => e.classList.add("way"));
    linesOf(box).forEach((line) => lines.get(line)?.classList.add("lit"));
  }

  function leave() {
    clear("way");
    clear("lit");
    all("svg.tracing").forEach((svg) => svg.classList.remove("tracing"));
  }

  function choose(box) {
    clear("chosen");
    chosen = box;
    if (!box) { numbers.textContent = numbers.dataset.empty; return; }
    box.classList.add("chosen");
    const words = all("text", box).slice(1).map((text) => text.textContent);
    const title = [box.querySelector("title").textContent, ...words].join("\n");
    const id = box.dataset.node || box.dataset.ref;
    const more = data.passes[pass].numbers[id];
    numbers.textContent = more ? `${title}\n\n${more}` : title;
    current(linesOf(box)[0]);
  }

  function current(line) {
    all("[aria-current]").forEach((e) => e.removeAttribute("aria-current"));
    const element = lines.get(String(line));
    if (!element) return;
    element.setAttribute("aria-current", "true");
    element.scrollIntoView({ block: "nearest" });
  }

  // ---- the walk through backward

  function walk() {
    const steps = data.passes[pass].steps, at = +range.value;
    const step = at ? steps[at - 1] : null;
    const reached = at === steps.length ? Infinity : step ? step.number : 0;
    clear("now");
    const late = new Set();
    for (const box of boxes()) {
      const number = +box.dataset.step;
      const later = number > reached;
      box.classList.toggle("later", later);
      if (later) late.add(box.id);
      if (step && at < steps.length && box.dataset.node === String(step.id)) box.classList.add("now");
    }
    for (const wire of wires()) wire.classList.toggle("later", late.has(wire.dataset.to));
    place.textContent = steps.length ? `${step ? `step ${step.number}` : "before"} of ${data.passes[pass].count}` : "no pass";
    told.textContent = step ? step.text : data.passes[pass].start;
    range.setAttribute("aria-valuetext", place.textContent);
    if (step && step.line) current(step.line);
  }

  // ---- search

  function look() {
    const word = search.value.trim().toLowerCase();
    clear("found");
    const hits = word ? boxes().filter((b) => b.textContent.toLowerCase().includes(word)) : [];
    hits.forEach((b) => b.classList.add("found"));
    found.textContent = word ? `${hits.length} found` : "";
    return hits;
  }

  // ---- events

  for (const svg of all("svg.gradcli")) {
    svg.addEventListener("pointerover", (event) => {
      const box = event.target.closest("g.box");
      if (box) mark(box); else leave();
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("focusin", (event) => {
      const box = event.target.closest("g.box");
      if (box) { mark(box); current(linesOf(box)[0]); }
    });
    svg.addEventListener("focusout", leave);
    svg.addEventListener("click", (event) => {
      const box = event.target.closest("g.box");
      if (box && box.dataset.members) open(box); else choose(box);
    });
    svg.addEventListener("keydown", (event) => {
      const box = event.target.closest("g.box");
      if (!box) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        if (box.dataset.members) open(box); else choose(box);
      }
      const near = { ArrowUp: ["to", "from"], ArrowDown: ["from", "to"] }[event.key];
      const wire = near && wires().find((w) => w.dataset[near[0]] === box.id);
      if (wire) { event.preventDefault(); document.getElementById(wire.dataset[near[1]]).focus(); }
    });
  }
  for (const [number, line] of lines) {
    const lit = () => {
      clear("lit");
      line.classList.add("lit");
      boxes().forEach((b) => b.classList.toggle("lit", linesOf(b).includes(number)));
    };
    line.addEventListener("pointerenter", lit);
    line.addEventListener("pointerleave", () => clear("lit"));
    line.addEventListener("focus", lit);
    line.addEventListener("blur", () => clear("lit"));
  }
  range.addEventListener("input", walk);
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const hits = look();
    const next = hits[(hits.indexOf(chosen) + 1) % hits.length];
    if (next) { choose(next); next.scrollIntoView({ block: "center", inline: "center" }); }
  });
  passes?.addEventListener("change", () => show(+passes.value, data.passes[+passes.value].view));
  all("button[data-view]").forEach((b) => b.addEventListener("click", () => show(pass, +b.dataset.view)));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { leave(); choose(null); }
    if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); }
  });
  one("form").addEventListener("submit", (event) => event.preventDefault());
  one("form").hidden = false;
  all(".scripted").forEach((e) => { e.hidden = false; });
  range.max = data.passes[0].steps.length;
  range.value = range.max;
  show(pass, view);
})();
