"use strict";
// What is wrong with each picture of the page, as {name: [words]}.
const near = 1.0;
const boxOf = (element) => {
  const b = element.getBBox();
  return { x0: b.x, y0: b.y, x1: b.x + b.width, y1: b.y + b.height };
};
const cross = (a, b, slack) =>
  a.x0 < b.x1 - slack && b.x0 < a.x1 - slack && a.y0 < b.y1 - slack && b.y0 < a.y1 - slack;
const within = (a, b) =>
  a.x0 >= b.x0 - near && a.y0 >= b.y0 - near && a.x1 <= b.x1 + near && a.y1 <= b.y1 + near;
const light = (colour) => {
  const parts = colour.match(/[\d.]+/g).slice(0, 3).map((n) => {
    const c = n / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
};
const fill = (element) => getComputedStyle(element).fill;

function look(svg) {
  const wrong = [];
  const page = svg.querySelector("rect.page");
  const view = boxOf(page);
  const boxes = [...svg.querySelectorAll("g.box")].map((g) => ({
    g, id: g.id, shape: g.querySelector("rect.shape"), all: boxOf(g),
    at: boxOf(g.querySelector("rect.shape")),
  }));
  const byId = new Map(boxes.map((box) => [box.id, box]));
  if (byId.size !== boxes.length) wrong.push("two boxes of one id");
  boxes.forEach((a, i) => {
    const kinds = ["node", "ref", "members"].filter((kind) => kind in a.g.dataset);
    if (kinds.length !== 1) wrong.push(`${a.id}: ${kinds}`);
    if (!within(a.all, view)) wrong.push(`${a.id} leaves the picture`);
    for (const b of boxes.slice(i + 1))
      if (cross(a.all, b.all, 0)) wrong.push(`${a.id} lies on ${b.id}`);
    const texts = [...a.g.querySelectorAll("text")];
    if (!texts.length) wrong.push(`${a.id} has no words`);
    for (const text of texts) {
      if (!within(boxOf(text), a.at)) wrong.push(`${a.id}: ${text.textContent} leaves its box`);
      const ratio = contrast(fill(text), fill(a.shape));
      if (ratio < 4.5) wrong.push(`${a.id}: contrast ${ratio.toFixed(2)}`);
    }
    texts.forEach((one, k) => texts.slice(k + 1).forEach((other) => {
      if (cross(boxOf(one), boxOf(other), 3)) wrong.push(`${a.id}: words on words`);
    }));
  });
  const words = [];
  for (const g of svg.querySelectorAll("g.wire")) {
    const [from, to] = [byId.get(g.dataset.from), byId.get(g.dataset.to)];
    const name = `${g.dataset.from}->${g.dataset.to}`;
    const paths = [...g.querySelectorAll("path")];
    if (!from || !to || paths.length !== 1) { wrong.push(`${name}: ends`); continue; }
    const path = paths[0], length = path.getTotalLength();
    const start = path.getPointAtLength(0), end = path.getPointAtLength(length);
    const touches = (p, b) => p.x >= b.x0 - near && p.x <= b.x1 + near &&
      p.y >= b.y0 - near && p.y <= b.y1 + near &&
      (Math.abs(p.y - b.y1) < near || Math.abs(p.y - b.y0) < near ||
       Math.abs(p.x - b.x0) < near || Math.abs(p.x - b.x1) < near);
    if (!touches(start, from.at)) wrong.push(`${name} does not begin at its box`);
    if (!touches(end, to.at)) wrong.push(`${name} does not end at its box`);
    for (let s = 4; s < length - 4; s += 4) {
      const p = path.getPointAtLength(s);
      const hit = boxes.find((b) => p.x > b.at.x0 + near && p.x < b.at.x1 - near &&
        p.y > b.at.y0 + near && p.y < b.at.y1 - near);
      if (hit) { wrong.push(`${name} runs through ${hit.id}`); break; }
    }
    const texts = [...g.querySelectorAll("text")];
    for (const text of texts) {
      const at = boxOf(text);
      const hit = boxes.find((b) => cross(at, b.all, 0));
      if (hit) wrong.push(`${name}: its words lie on ${hit.id}`);
      if (!within(at, view)) wrong.push(`${name}: its words leave the picture`);
      if (contrast(fill(text), fill(page)) < 4.5) wrong.push(`${name}: contrast`);
      for (const other of words)
        if (other.g !== g && cross(at, other.at, 1)) wrong.push(`${name}: words on words`);
      words.push({ g, at });
    }
  }
  // No wire runs through the words of another.
  for (const g of svg.querySelectorAll("g.wire")) {
    const path = g.querySelector("path"), length = path.getTotalLength();
    for (let s = 0; s < length; s += 5) {
      const p = path.getPointAtLength(s);
      const hit = words.find(({ at }) => p.x > at.x0 + 1 && p.x < at.x1 - 1 &&
        p.y > at.y0 + 2 && p.y < at.y1 - 2);
      if (hit) { wrong.push(`${g.dataset.from}->${g.dataset.to} runs through words`); break; }
    }
  }
  for (const text of svg.querySelectorAll(":scope > text")) {
    if (!within(boxOf(text), view)) wrong.push(`${text.textContent} leaves the picture`);
    if (contrast(fill(text), fill(page)) < 4.5) wrong.push("a note's contrast");
  }
  if (!svg.querySelector("title")?.textContent || !svg.querySelector("desc")?.textContent)
    wrong.push("no title");
  return wrong;
}

const found = {};
for (const section of document.querySelectorAll("section"))
  found[section.dataset.name] = look(section.querySelector("svg"));
