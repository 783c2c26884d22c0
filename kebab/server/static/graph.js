/* The links around the open document, or of the whole base: a picture and the same as lists. */

import { call } from "./api.js";
import { DocLinks, Waiting, useLoaded } from "./parts.js";
import { html, useEffect, useMemo, useRef, useState } from "./preact.js";
import { buildFilters } from "./route.js";
import { pluralize } from "./words.js";

const MOST_NODES = 60;
const MOST_WHOLE = 150;
const MOST_LISTED = 5000; // documents whose links are read for the whole base
const HALF_LINE = 9; // pixels
const MOST_OPENED = 12; // neighbours whose own links are asked for
const ROUNDS = 300;
const DISTANCE = 90;

const inspect = (name, signal) =>
  call("related", { name, limit: 1 }, signal).then((reply) => (reply.document ? reply : null));

/** Return the documents around one, its neighbours first, and the links between them. */
async function loadGraph(doc, signal) {
  const center = await inspect(doc, signal);
  if (!center) throw new Error("this document is not in the index any more");
  const nodes = new Map([[doc, { id: doc, title: center.document.title, depth: 0 }]]);
  const edges = new Map();
  let left = 0;
  const add = (from, reply, depth) => {
    const links = [...reply.links.map((one) => [one, true]), ...reply.backlinks.map((one) => [one])];
    for (const [link, isOut] of links) {
      const id = link.doc_id;
      if (!id || id === from) continue;
      if (!nodes.has(id) && nodes.size >= MOST_NODES) {
        left += 1;
        continue;
      }
      if (!nodes.has(id)) nodes.set(id, { id, title: link.title || link.doc_path, depth });
      const [source, target] = isOut ? [from, id] : [id, from];
      edges.set(`${source} ${target}`, { source, target });
    }
  };
  add(doc, center, 1);
  const near = [...nodes.keys()].slice(1, MOST_OPENED + 1);
  const replies = await Promise.all(near.map((id) => inspect(id, signal).catch(() => null)));
  replies.forEach((reply, index) => reply && add(near[index], reply, 2));
  return buildGraph(doc, [...nodes.values()], [...edges.values()], left);
}

/** Return a graph whose nodes know their links; after the center the most linked come first. */
function buildGraph(center, nodes, edges, left) {
  const counts = new Map();
  for (const id of edges.flatMap((one) => [one.source, one.target])) {
    counts.set(id, (counts.get(id) || 0) + 1);
  }
  const counted = nodes.map((node) => ({ ...node, links: counts.get(node.id) || 0 }));
  counted.sort((one, two) => (two.id === center) - (one.id === center) || two.links - one.links);
  return { center, nodes: counted, edges, left };
}

/** Return the documents of the base with the most links, and the links between them. */
async function loadWhole(route, signal) {
  const request = { limit: MOST_LISTED, links: true, ...buildFilters(route) };
  const { documents, links } = await call("list", request, signal);
  const edges = links.map(([source, target]) => ({ source, target }));
  const named = documents.map((one) => ({ id: one.doc_id, title: one.title, depth: 1 }));
  const linked = buildGraph("", named, edges, 0).nodes.filter((one) => one.links);
  const shown = linked.slice(0, MOST_WHOLE);
  const ids = new Set(shown.map((one) => one.id));
  const kept = edges.filter((one) => ids.has(one.source) && ids.has(one.target));
  return buildGraph("", shown, kept, edges.length - kept.length);
}

/** Place nodes so that linked ones are near and all others apart (Fruchterman and Reingold). */
function layOut({ center, nodes, edges }) {
  const places = new Map(
    nodes.map((node, index) => {
      const angle = index * 2.4; // the golden angle spreads them evenly
      const radius = node.depth * DISTANCE + index;
      return [node.id, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) }];
    }),
  );
  const all = [...places.values()];
  for (let round = 0; round < ROUNDS; round += 1) {
    const moves = new Map(all.map((place) => [place, { x: 0, y: 0 }]));
    const push = (one, other, force) => {
      const [x, y] = [one.x - other.x || 0.01, one.y - other.y || 0.01];
      const length = Math.hypot(x, y);
      const amount = force(length) / length;
      moves.get(one).x += x * amount;
      moves.get(one).y += y * amount;
      moves.get(other).x -= x * amount;
      moves.get(other).y -= y * amount;
    };
    all.forEach((one, index) => {
      for (const other of all.slice(index + 1)) push(one, other, (d) => DISTANCE ** 2 / d);
    });
    for (const { source, target } of edges) {
      push(places.get(source), places.get(target), (d) => -(d ** 2) / DISTANCE);
    }
    const heat = 12 * (1 - round / ROUNDS);
    for (const [place, move] of moves) {
      const length = Math.hypot(move.x, move.y) || 1;
      place.x += (move.x / length) * Math.min(length, heat);
      place.y += (move.y / length) * Math.min(length, heat);
    }
  }
  const middle = center ? { ...places.get(center) } : { x: 0, y: 0 };
  for (const place of all) [place.x, place.y] = [place.x - middle.x, place.y - middle.y];
  return places;
}

/** Return the size of the space that a picture needs, from its middle. */
function measure(places) {
  const spanX = Math.max(60, ...[...places.values()].map((place) => Math.abs(place.x)));
  const spanY = Math.max(60, ...[...places.values()].map((place) => Math.abs(place.y)));
  return { spanX, spanY };
}

/** Return where a name fits beside a node without covering another; null where it does not. */
function placeLabel(taken, { x, y, radius, width, limits }) {
  const gap = radius + 5;
  const corners = [
    [x + gap, y - HALF_LINE],
    [x - gap - width, y - HALF_LINE],
    [x - width / 2, y + gap],
    [x - width / 2, y - gap - 2 * HALF_LINE],
  ];
  for (const [left, top] of corners) {
    const box = { left, top, right: left + width, bottom: top + 2 * HALF_LINE };
    const isInside = left >= 0 && top >= 0 && box.right <= limits.width && box.bottom <= limits.height;
    const isFree = !taken.some(
      (one) =>
        one.left < box.right && box.left < one.right && one.top < box.bottom && box.top < one.bottom,
    );
    if (isInside && isFree) {
      taken.push(box);
      return box;
    }
  }
  return null;
}

/** Draw the graph as it is zoomed and moved; return the places of its nodes. */
function draw(canvas, { graph, places, view }) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const paint = canvas.getContext("2d");
  paint.scale(ratio, ratio);
  const { spanX, spanY } = measure(places);
  const fitting = Math.min(1.6, (width / 2 - 60) / spanX, (height / 2 - 30) / spanY);
  const scale = fitting * view.zoom;
  const put = (place) => [
    width / 2 + view.x + place.x * scale,
    height / 2 + view.y + place.y * scale,
  ];
  const style = getComputedStyle(canvas);
  const accent = style.getPropertyValue("caret-color");
  paint.strokeStyle = style.borderColor;
  for (const { source, target } of graph.edges) {
    paint.beginPath();
    paint.moveTo(...put(places.get(source)));
    paint.lineTo(...put(places.get(target)));
    paint.stroke();
  }
  paint.font = `13px ${style.fontFamily}`;
  paint.textBaseline = "top";
  const spots = graph.nodes.map((node) => {
    const [x, y] = put(places.get(node.id));
    const isCenter = node.id === graph.center;
    return { x, y, id: node.id, isCenter, radius: isCenter ? 8 : Math.min(7, 3 + node.links / 3) };
  });
  for (const { x, y, radius, isCenter } of spots) {
    paint.fillStyle = isCenter ? accent : style.color;
    paint.beginPath();
    paint.arc(x, y, radius, 0, 7);
    paint.fill();
  }
  const taken = spots.map(({ x, y, radius }) => ({
    left: x - radius,
    right: x + radius,
    top: y - radius,
    bottom: y + radius,
  }));
  paint.fillStyle = style.color;
  graph.nodes.forEach(({ title }, index) => {
    const name = title.length > 28 ? `${title.slice(0, 27)}…` : title;
    const limits = { width, height };
    const size = paint.measureText(name).width;
    const box = placeLabel(taken, { ...spots[index], width: size, limits });
    if (box) paint.fillText(name, box.left, box.top + 1);
  });
  return spots;
}

const START = { zoom: 1, x: 0, y: 0 };

function Picture({ graph, onOpen }) {
  const canvas = useRef(null);
  const spots = useRef([]);
  const grip = useRef(null);
  const [view, setView] = useState(START);
  const places = useMemo(() => layOut(graph), [graph]);
  useEffect(() => setView(START), [graph]);
  useEffect(() => {
    const paint = () => {
      if (canvas.current) spots.current = draw(canvas.current, { graph, places, view });
    };
    const watcher = new ResizeObserver(paint);
    watcher.observe(canvas.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", paint);
    addEventListener("kebab-theme", paint);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", paint);
      removeEventListener("kebab-theme", paint);
    };
  }, [graph, view]);
  const zoom = (factor) =>
    setView((old) => {
      const next = Math.min(12, Math.max(0.5, old.zoom * factor));
      return { zoom: next, x: (old.x * next) / old.zoom, y: (old.y * next) / old.zoom };
    });
  const open = (event) => {
    if (grip.current?.hasMoved) return;
    const near = spots.current
      .map((spot) => ({ ...spot, d: Math.hypot(spot.x - event.offsetX, spot.y - event.offsetY) }))
      .sort((one, two) => one.d - two.d)[0];
    if (near && near.d < 24) onOpen({ doc_id: near.id });
  };
  const take = (event) => {
    grip.current = { x: event.clientX, y: event.clientY, hasMoved: false };
    event.target.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const { current } = grip;
    if (!current || !event.buttons) return;
    const [x, y] = [event.clientX - current.x, event.clientY - current.y];
    if (!current.hasMoved && Math.hypot(x, y) < 5) return;
    grip.current = { x: event.clientX, y: event.clientY, hasMoved: true };
    setView((old) => ({ ...old, x: old.x + x, y: old.y + y }));
  };
  const wheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
  };
  const label = `${pluralize(graph.nodes.length, "document")} and the links between them; the lists
    have the same`;
  return html`<div class="map">
    <canvas
      ref=${canvas}
      role="img"
      aria-label=${label}
      data-zoom=${view.zoom.toFixed(2)}
      onClick=${open}
      onPointerDown=${take}
      onPointerMove=${move}
      onWheel=${wheel}
    ></canvas>
    <div class="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom in" onClick=${() => zoom(1.5)}>+</button>
      <button type="button" aria-label="Zoom out" onClick=${() => zoom(1 / 1.5)}>−</button>
      <button type="button" onClick=${() => setView(START)}>Fit</button>
    </div>
  </div>`;
}

const describeLeft = (left) => (left > 0 ? `; ${pluralize(left, "more link")} not shown` : "");

/** Show the links around the document of the route, or those of the whole base. */
export function Graph({ route, onOpen, onNavigate }) {
  const [isWhole, setWhole] = useState(false);
  const doc = isWhole ? "" : route.doc;
  const load = (signal) => (doc ? loadGraph(doc, signal) : loadWhole(route, signal));
  const key = doc || `whole ${JSON.stringify(buildFilters(route))}`;
  const found = useLoaded(key, load);
  const graph = found.isStale ? null : found.value;
  if (!graph) return html`<${Waiting} for=${found} label="reading" />`;
  const { center, nodes, edges, left } = graph;
  const sources = new Set(edges.filter((one) => one.target === center).map((one) => one.source));
  const targets = new Set(edges.filter((one) => one.source === center).map((one) => one.target));
  const lists = {
    "Linked from": (id) => sources.has(id),
    "Links to": (id) => targets.has(id),
    [center ? "One step further" : "The most linked first"]: (id) =>
      id !== center && !sources.has(id) && !targets.has(id),
  };
  const nothing = center
    ? "No document links to this one, and it links to none."
    : "No document links to another.";
  return html`${route.doc &&
    html`<button type="button" aria-pressed=${isWhole} onClick=${() => setWhole(!isWhole)}>
      All documents
    </button>`}
    <p class="summary" role="status">
      ${edges.length
        ? `${pluralize(nodes.length, "document")}, ${pluralize(edges.length, "link")}`
        : nothing}
      ${describeLeft(left)}
    </p>
    ${edges.length > 0 && html`<${Picture} graph=${graph} onOpen=${onOpen} />`}
    ${Object.entries(lists).map(([label, test]) => {
      const documents = nodes.filter((node) => test(node.id));
      return html`<${DocLinks} ...${{ label, documents, route, onNavigate }} />`;
    })}`;
}
