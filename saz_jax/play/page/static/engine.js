// Who knows the rules and thinks: here a worker of the page itself.  The same function as the server's engine.js.

export function connect(hear) {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = (event) => hear({ is: "error", text: `the engine cannot run here: ${event.message}` });
  return (message) => worker.postMessage(message);
}
