"use strict";
// The text of a stream of RFC 1951 (deflate), of so many bytes. The browser has a function for this,
// which answers later: then nothing could be done with the page when it has loaded.
function inflated(bytes, size) {
  const out = new Uint8Array(size);
  let [at, hold, held, end] = [0, 0, 0, 0];
  const bits = (count) => {
    for (; held < count; held += 8) hold |= bytes[at++] << held;
    const value = hold & ((1 << count) - 1);
    hold >>>= count;
    held -= count;
    return value;
  };
  const code = (lengths) => { // how many codes there are of each length, and what they mean in order
    const count = Array(16).fill(0), signs = [];
    for (let length = 1; length < 16; length++)
      lengths.forEach((one, sign) => { if (one === length) { count[length]++; signs.push(sign); } });
    return { count, signs };
  };
  const sign = ({ count, signs }) => {
    for (let length = 1, value = 0, first = 0, before = 0; ; length++) {
      value = value * 2 + bits(1);
      if (value - first < count[length]) return signs[before + value - first];
      before += count[length];
      first = (first + count[length]) * 2;
    }
  };
  const table = (start, step, last) => { // the least value of each sign, and the bits that follow it
    const found = [];
    for (let least = start, k = 0; k < last; k++) {
      const extra = Math.max(0, Math.floor(k / step) - 1);
      found.push([least, extra]);
      least += 1 << extra;
    }
    return found;
  };
  const runs = [...table(3, 4, 28), [258, 0]], ways = table(1, 2, 30);
  const plus = ([least, extra]) => least + bits(extra);
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      at -= held >> 3;
      hold = held = 0;
      const length = bytes[at] | bytes[at + 1] << 8;
      out.set(bytes.subarray(at + 4, at + 4 + length), end);
      at += 4 + length;
      end += length;
      continue;
    }
    let lengths = Array.from({ length: 288 }, (_, k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8));
    let [letters, distances] = [lengths, Array(30).fill(5)];
    if (kind === 2) {
      const [one, two, three] = [bits(5) + 257, bits(5) + 1, bits(4) + 4], own = Array(19).fill(0);
      for (let k = 0; k < three; k++) own[order[k]] = bits(3);
      const inner = code(own);
      for (lengths = []; lengths.length < one + two;) {
        const next = sign(inner);
        if (next < 16) lengths.push(next);
        else {
          const before = next === 16 ? lengths.at(-1) : 0;
          const times = next === 16 ? 3 + bits(2) : next === 17 ? 3 + bits(3) : 11 + bits(7);
          lengths.push(...Array(times).fill(before));
        }
      }
      [letters, distances] = [lengths.slice(0, one), lengths.slice(one)];
    }
    [letters, distances] = [code(letters), code(distances)];
    for (let next = sign(letters); next !== 256; next = sign(letters)) {
      if (next < 256) { out[end++] = next; continue; }
      const length = plus(runs[next - 257]), back = plus(ways[sign(distances)]);
      for (const stop = end + length; end < stop; end++) out[end] = out[end - back];
    }
  }
  return new TextDecoder().decode(out);
}

(() => {
  const packed = document.getElementById("data");
  const data = JSON.parse(inflated(Uint8Array.from(atob(packed.textContent), (c) => c.charCodeAt(0)), +packed.dataset.size));
  const tenth = (value) => Math.round(value * 10) / 10;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const column = (rows, at) => rows.map((row) => row[at]).filter((one) => one != null);
  data.passes.forEach((one, at) => { one.steps = column(data.steps, at); });
  for (const at of data.figures[0]?.keys() ?? []) {
    const text = column(data.figures, at).join(""), [, prefix] = /data-prefix="(.*?)"/.exec(text);
    const page = new DOMParser().parseFromString(text.replaceAll("\x01", prefix), "text/html");
    one(".pictures").append(document.importNode(page.querySelector("figure"), true));
  }
  const figures = all("figure");
  const [range, search, passes] = [one("input[type=range]"), one("input[type=search]"), one("select")];
  const [told, numbers, place, found] = ["told", "numbers", "place", "found"].map((id) => document.getElementById(id));
  const lines = new Map(all("[data-line]").map((line) => [line.dataset.line, line]));
  let pass = 0, view = data.passes[0].view, chosen = null;

  // view is the number of a picture, or "0:f12" or "0:f12+f30": that one with these folds open
  const figure = () => figures.find((f) => +f.dataset.pass === pass && f.dataset.view === String(view));
  const picture = () => figure().querySelector("svg");
  const boxes = () => all("g.box", picture());
  const wires = () => all("g.wire", picture());
  const linesOf = (box) => (box.dataset.lines || "").split(" ").filter(Boolean);
  const openFolds = () => String(view).split(":")[1]?.split("+") ?? [];
  const clear = (name) => all("." + name).forEach((e) => e.classList.remove(name));

  // ---- which picture

  function show(nextPass, nextView, from, fold) {
    const before = from ? from.getBoundingClientRect() : null;
    const members = from ? (from.dataset.members || from.dataset.node || "").split(" ") : [];
    pass = nextPass;
    view = nextView;
    const shown = figure();
    figures.forEach((f) => { f.hidden = f !== shown; });
    all("button[data-view]").forEach((b) => {
      const name = data.passes[pass].views[b.dataset.view];
      b.hidden = !name || data.passes[pass].views.length < 2;
      b.textContent = name ?? "";
      b.setAttribute("aria-pressed", String(b.dataset.view === String(view)));
    });
    one("h1").textContent = document.title = data.passes[pass].title;
    range.max = data.passes[pass].steps.length;
    if (+range.value > +range.max) range.value = range.max;
    leave();
    walk();
    look();
    paper();
    if (!before) return;
    const same = boxes().find((b) => members.includes(b.dataset.node)) ||
      boxes().find((b) => (b.dataset.members || "").split(" ").includes(members[0]));
    if (!same) return;
    const now = same.getBoundingClientRect();
    one(".pictures").scrollLeft += now.left - before.left;
    window.scrollBy(0, now.top - before.top);
    (picture().querySelector(`[data-closes="${fold}"]`) ?? same).focus({ preventScroll: true });
  }

  function paper() { // page.py says why
    const [{ cssRules: rules }, { width, height }] = [document.styleSheets[0], picture()];
    const [wide, high] = [width.baseVal.value, height.baseVal.value];
    one(".pictures").classList.toggle("tall", high > 1.3 * Math.max(wide, 700));
    document.styleSheets[0].deleteRule(rules.length - 1);
    document.styleSheets[0].insertRule(`@page picture{size:${wide + 8}px ${high + 8}px;margin:0}`, rules.length);
  }

  function open(fold) {
    const base = parseInt(view), key = fold.id.slice(figure().dataset.prefix.length);
    const views = data.passes[pass].opens[base];
    const keys = [[...openFolds(), key].sort().join("+"), key].find((name) => views?.[name]);
    if (keys) turn(base, keys, fold, key);
    else if (base + 1 < data.passes[pass].views.length) show(pass, base + 1, fold);
    else choose(fold);
  }

  function close(button) {
    const left = openFolds().filter((key) => key !== button.dataset.closes);
    turn(parseInt(view), left.join("+"), button.closest("g.box"));
  }

  function turn(base, keys, from, fold) { // to the picture with these folds open
    const name = keys ? `${base}:${keys}` : base;
    if (!figures.some((f) => +f.dataset.pass === pass && f.dataset.view === String(name)))
      unfold(base, keys, data.passes[pass].opens[base][keys]);
    show(pass, name, from, fold);
  }

  // ---- a picture with one fold open: boxes and wires of other pictures, moved

  function unfold(base, key, told) {
    const known = [];
    for (const f of figures) if (+f.dataset.pass === pass && /^\d+$/.test(f.dataset.view)) known[+f.dataset.view] = f;
    const from = known[base], prefix = `o${figures.length}-`, old = from.querySelector("svg");
    const [width, height] = told.size, svg = old.cloneNode(false);
    const renamed = (element, before) => {
      for (const e of [element, ...element.querySelectorAll("*")])
        for (const { name, value } of [...e.attributes])
          if (value.includes(before) && /^(id|data-from|data-to|marker-start|aria-labelledby)$/.test(name))
            e.setAttribute(name, value.replaceAll(before, prefix));
      return element;
    };
    const copied = (element, before) => renamed(element.cloneNode(true), before);
    const parsed = (markup) => {
      const text = `<svg xmlns="http://www.w3.org/2000/svg">${markup.replaceAll("\x01", prefix)}</svg>`;
      const group = new DOMParser().parseFromString(text, "image/svg+xml").documentElement.firstElementChild;
      return document.importNode(group, true);
    };
    renamed(svg, from.dataset.prefix);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const e of old.children) {
      const same = ["title", "desc", "defs", "rect"].includes(e.localName);
      if (!same && e.localName !== "text") continue;
      const kept = copied(e, from.dataset.prefix), y = +e.getAttribute("y");
      if (!same && y > 60) kept.setAttribute("y", tenth(y + +height - +old.getAttribute("height")));
      svg.append(kept);
    }
    const page = svg.querySelector("rect.page");
    page.setAttribute("width", width);
    page.setAttribute("height", height);
    const wiresOf = known.map((f) => all("g.wire", f)), boxesOf = known.map((f) => all("g.box", f));
    const moved = (element, right, down) => {
      for (const e of all("rect, text", element)) {
        e.setAttribute("x", tenth(+e.getAttribute("x") + right));
        e.setAttribute("y", tenth(+e.getAttribute("y") + down));
      }
      return element;
    };
    const put = (group) => {
      group.classList.remove("way", "chosen", "now", "found", "lit", "later");
      svg.append(group);
      return group;
    };
    for (const [at, right, down, ...places] of told.wires)
      for (const which of places) {
        const drawn = put(moved(copied(wiresOf[at][which], known[at].dataset.prefix), right, down)).querySelector("path");
        const pair = (all, x, y) => `${tenth(+x + right)} ${tenth(+y + down)}`;
        drawn.setAttribute("d", drawn.getAttribute("d").replace(/(-?[\d.]+) (-?[\d.]+)/g, pair));
      }
    for (const [at, which, way, right, down] of told.bent)
      put(moved(copied(wiresOf[at][which], known[at].dataset.prefix), right, down)).querySelector("path").setAttribute("d", way);
    const fresh = told.new.map(parsed);
    fresh.filter((e) => e.classList.contains("wire")).forEach(put);
    const drawn = fresh.filter((e) => e.classList.contains("box"));
    for (const [at, right, down, ...places] of told.boxes)
      for (const which of places) drawn.push(moved(copied(boxesOf[at][which], known[at].dataset.prefix), right, down));
    const spot = (box, side) => +box.querySelector(".shape").getAttribute(side);
    drawn.sort((a, b) => spot(a, "y") - spot(b, "y") || spot(a, "x") - spot(b, "x")); // as Tab goes
    drawn.forEach(put);
    const made = from.cloneNode(false);
    Object.assign(made.dataset, { view: `${base}:${key}`, prefix });
    made.hidden = true;
    made.append(svg);
    from.after(made);
    figures.push(made);
    listen(svg);
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
    tell(box);
    current(linesOf(box)[0]);
  }

  function said(box) { // its words; a gradient only when the pass has come there
    const later = box.classList.contains("later");
    const words = all("text:not(.o)", box).slice(1).filter((text) => !later || !text.classList.contains("gr"));
    return [box.querySelector("title").textContent, ...words.map((text) => text.textContent)];
  }

  function tell(box) { // its numbers
    const later = box.classList.contains("later"), title = said(box).join("\n");
    const more = data.passes[pass].numbers[box.dataset.node || box.dataset.ref]?.filter(([name]) => !later || name !== "grad");
    numbers.textContent = [title, ...(more || []).map(([name, text]) => `${name}\n${text}`)].join("\n\n");
  }

  function current(line) {
    all("[aria-current]").forEach((e) => e.removeAttribute("aria-current"));
    const element = lines.get(String(line));
    if (!element) return;
    element.setAttribute("aria-current", "true");
    element.scrollIntoView({ block: "nearest" });
  }

  // ---- the walk through backward

  function walk(event) {
    const steps = data.passes[pass].steps, at = +range.value;
    const [number, id, line, text] = (at && steps[at - 1]) || [];
    const step = at > 0;
    const reached = at === steps.length ? Infinity : step ? number : 0;
    clear("now");
    const late = new Set();
    for (const box of boxes()) {
      const later = +box.dataset.step > reached;
      box.classList.toggle("later", later);
      if (later) late.add(box.id);
      box.setAttribute("aria-label", said(box).slice(0, box.dataset.members ? 1 : 9).join(", "));
      const inside = box.dataset.node || ` ${box.dataset.members} `.includes(` ${id} `) && String(id);
      if (step && at < steps.length && inside === String(id)) {
        box.classList.add("now");
        if (event) box.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    }
    for (const wire of wires()) wire.classList.toggle("later", late.has(wire.dataset.to));
    const counted = (n) => n.toLocaleString("en");
    place.textContent = steps.length ? `${step ? "step" : "before step"} ${counted(step ? number : 1)} of ${counted(data.passes[pass].count)}` : "no pass";
    told.textContent = step ? text : data.passes[pass].start;
    range.setAttribute("aria-valuetext", place.textContent);
    if (chosen && chosen.isConnected && picture().contains(chosen)) tell(chosen);
    current(step ? line || null : data.passes[pass].line);
  }

  // ---- search

  function look() {
    const word = search.value.trim().toLowerCase();
    clear("found");
    found.textContent = "";
    if (!word) return [];
    const fits = (b) => b.textContent.toLowerCase().includes(word);
    const here = boxes(), folds = here.filter((b) => b.dataset.members), hidden = new Map();
    for (const fold of folds) for (const id of fold.dataset.members.split(" ")) hidden.set(id, fold);
    const hits = new Set(here.filter(fits)), within = new Set();
    for (const f of figures) // a more open picture of the pass has what a fold hides
      if (+f.dataset.pass === pass)
        for (const b of all("g.box[data-node]", f)) {
          const fold = hidden.get(b.dataset.node);
          if (!fold) continue;
          if (fits(b)) { hits.add(fold); within.add(b.dataset.node); }
          hidden.set(b.dataset.node, null);
        }
    const drawn = [...hits].filter((b) => !b.dataset.members || fits(b)).length;
    const unseen = [...hidden.values()].filter(Boolean).length;
    found.textContent = `${drawn + within.size} found${within.size ? `, ${within.size} in folds` : ""}` +
      (unseen ? `; ${unseen.toLocaleString("en")} folded nodes not searched` : "");
    hits.forEach((b) => b.classList.add("found"));
    return here.filter((b) => hits.has(b));
  }

  // ---- events

  function press(target) {
    const box = target.closest("g.box"), button = target.closest("[data-closes]");
    if (button) close(button);
    else if (box && box.dataset.members) open(box);
    else choose(box);
  }

  function listen(svg) {
    for (const box of all("g.box", svg)) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "button");
    }
    svg.setAttribute("role", "group"); // of an image a screen reader reads no parts
    svg.addEventListener("pointerover", (event) => {
      const box = event.target.closest("g.box");
      if (box) mark(box); else leave();
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("focusin", (event) => {
      const box = event.target.closest("g.box");
      if (!box) return;
      mark(box);
      current(linesOf(box)[0]);
      if (box.matches(":focus-visible")) box.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    svg.addEventListener("focusout", leave);
    svg.addEventListener("click", (event) => press(event.target));
    svg.addEventListener("keydown", (event) => {
      const box = event.target.closest("g.box");
      if (!box) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        press(event.target);
      }
      const near = { ArrowUp: ["to", "from"], ArrowDown: ["from", "to"] }[event.key];
      const wire = near && wires().find((w) => w.dataset[near[0]] === box.id);
      if (wire) { event.preventDefault(); document.getElementById(wire.dataset[near[1]]).focus(); }
    });
  }
  all("svg.gradcli").forEach(listen);
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
    line.addEventListener("keydown", (event) => {
      const near = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
      if (!near || !line[near]) return;
      event.preventDefault();
      line.tabIndex = -1;
      line[near].tabIndex = 0;
      line[near].focus();
    });
  }
  if (lines.has("1")) lines.get("1").tabIndex = 0; // one stop for Tab; Up and Down go through them
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
