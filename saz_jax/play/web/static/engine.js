// Who knows the rules and thinks: here the server.  The page knows an engine by `connect` alone, and gets all
// that it shows from its events; an engine that runs inside the page offers the same function.
//
// connect(hear) -> send: `hear(event)` gets {"is": "game", ...} and so on, `send(message)` takes
// {"do": "play", "move": "D3"} and so on.

const PATIENCE = [300, 1000, 2000, 5000];

export function connect(hear) {
  let socket = null;
  let tries = 0;

  function open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}/talk`);
    socket.onmessage = (message) => {
      tries = 0;
      hear(JSON.parse(message.data));
    };
    socket.onclose = () => {
      hear({ is: "waiting", text: "no connection, trying again" });
      setTimeout(open, PATIENCE[Math.min(tries++, PATIENCE.length - 1)]);
    };
  }

  open();
  return (message) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
}
