// Speak a text while it is being written, into an MP3 file: node examples/realtime_client.mjs
// Node 22 has the WebSocket of browsers; Node 20 has it with --experimental-websocket.
import { writeFileSync } from "node:fs";

const server = process.env.POLYVOX_URL ?? "http://127.0.0.1:8880";
const text = "The tide is out, and the boats lie on the sand. Good morning.";
const socket = new WebSocket(server.replace("http", "ws") + "/v1/realtime/speech");
const send = (message) => socket.send(JSON.stringify(message));
const audio = [];

socket.binaryType = "arraybuffer";
socket.onopen = () => {
  send({ type: "start", voice: "af_heart", format: "mp3", binary: true, word_timings: true });
  for (const word of text.split(" ")) send({ type: "text", text: word + " " });
  send({ type: "end" });
};
socket.onmessage = ({ data }) => {
  if (data instanceof ArrayBuffer) {
    audio.push(Buffer.from(data, 16)); // after the context's number, the sequence number, and the range of samples
    return;
  }
  const event = JSON.parse(data);
  if (event.type === "words") for (const { word, start } of event.words) console.log(start.toFixed(2), word);
  if (event.type === "error") console.error(event.message);
  if (event.type === "done") writeFileSync("tide.mp3", Buffer.concat(audio));
  if (event.type === "done" || event.ended) socket.close();
};
socket.onerror = () => console.error("There is no server at", server);
