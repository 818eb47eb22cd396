// The engine in its own thread, so that a search never blocks the page.

import { Table } from "./table.js";

async function read(name) {
  const answer = await fetch(new URL(`data/${name}`, import.meta.url));
  if (!answer.ok) throw new Error(`${name} cannot be read (${answer.status})`);
  return name.endsWith(".bin") ? answer.arrayBuffer() : answer.json();
}

const table = new Table(read, (event) => postMessage(event));
onmessage = ({ data }) => table.hear(data);
table.run().catch((error) => postMessage({ is: "error", text: error.message }));
