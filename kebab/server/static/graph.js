/* The links around the open document: a picture on a canvas, and the same as lists. */

import { call } from "./api.js";
import { DocLinks, Waiting, useLoaded } from "./parts.js";
import { html, useEffect, useMemo, useRef } from "./preact.js";
import { pluralize } from "./words.js";

const MOST_NODES = 60;
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
  return { center: doc, nodes: [...nodes.values()], edges: [...edges.values()], left };
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
  const middle = { ...places.get(center) };
  for (const place of all) [place.x, place.y] = [place.x - middle.x, place.y - middle.y];
  return places;
}

function draw(canvas, graph, places) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const paint = canvas.getContext("2d");
  paint.scale(ratio, ratio);
  // Names are to the right of nodes, so the picture needs more room there.
  const spanX = Math.max(60, ...[...places.values()].map((place) => Math.abs(place.x)));
  const spanY = Math.max(60, ...[...places.values()].map((place) => Math.abs(place.y)));
  const scale = Math.min(1.6, (width / 2 - 90) / spanX, (height / 2 - 30) / spanY);
  const put = (place) => [width / 2 + place.x * scale - 30, height / 2 + place.y * scale];
  const style = getComputedStyle(canvas);
  const ink = style.color;
  const accent = style.getPropertyValue("caret-color");
  paint.strokeStyle = style.borderColor;
  for (const { source, target } of graph.edges) {
    paint.beginPath();
    paint.moveTo(...put(places.get(source)));
    paint.lineTo(...put(places.get(target)));
    paint.stroke();
  }
  paint.font = `13px ${style.fontFamily}`;
  paint.textBaseline = "middle";
  const spots = [];
  for (const node of graph.nodes) {
    const [x, y] = put(places.get(node.id));
    const radius = [8, 5, 3.5][node.depth];
    paint.fillStyle = node.depth === 0 ? accent : ink;
    paint.beginPath();
    paint.arc(x, y, radius, 0, 7);
    paint.fill();
    const name = node.title.length > 28 ? `${node.title.slice(0, 27)}…` : node.title;
    const isPast = x + radius + 5 + paint.measureText(name).width > width;
    paint.textAlign = isPast ? "right" : "left";
    const beside = isPast ? x - radius - 5 : x + radius + 5;
    if (node.depth < 2 || graph.nodes.length < 25) paint.fillText(name, beside, y);
    spots.push({ x, y, id: node.id });
  }
  return spots;
}

function Picture({ graph, onOpen }) {
  const canvas = useRef(null);
  const spots = useRef([]);
  const places = useMemo(() => layOut(graph), [graph]);
  useEffect(() => {
    const paint = () => canvas.current && (spots.current = draw(canvas.current, graph, places));
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
  }, [graph]);
  const open = (event) => {
    const near = spots.current
      .map((spot) => ({ ...spot, d: Math.hypot(spot.x - event.offsetX, spot.y - event.offsetY) }))
      .sort((one, two) => one.d - two.d)[0];
    if (near && near.d < 24) onOpen({ doc_id: near.id });
  };
  const label = `${pluralize(graph.nodes.length, "document")} and the links between them; the lists
    have the same`;
  return html`<canvas ref=${canvas} role="img" aria-label=${label} onClick=${open}></canvas>`;
}

/** Show the links around the document of the route. */
export function Graph({ route, onOpen, onNavigate }) {
  const found = useLoaded(route.doc || null, (signal) => loadGraph(route.doc, signal));
  const graph = found.value;
  if (!route.doc) {
    return html`<p class="advice">Open a document first; this page shows the links around it.</p>`;
  }
  if (!graph) {
    return html`<${Waiting} for=${found} label="reading" />`;
  }
  const { center, nodes, edges, left } = graph;
  const sources = new Set(edges.filter((one) => one.target === center).map((one) => one.source));
  const targets = new Set(edges.filter((one) => one.source === center).map((one) => one.target));
  const lists = {
    "Linked from": (id) => sources.has(id),
    "Links to": (id) => targets.has(id),
    "One step further": (id) => id !== center && !sources.has(id) && !targets.has(id),
  };
  return html`<p class="summary" role="status">
      ${edges.length
        ? `${pluralize(nodes.length, "document")}, ${pluralize(edges.length, "link")}`
        : "No document links to this one, and it links to none."}
      ${left > 0 && `; ${pluralize(left, "more link")} not shown`}
    </p>
    ${edges.length > 0 && html`<${Picture} graph=${graph} onOpen=${onOpen} />`}
    ${Object.entries(lists).map(([label, test]) => {
      const documents = nodes.filter((node) => test(node.id));
      return html`<${DocLinks} ...${{ label, documents, route, onNavigate }} />`;
    })}`;
}
