// The service as the page sees it: requests with the token of this tab, and the state of a model as it comes.

const KEPT = "lopsided-token";
let asking = null; // one question for a token at a time

export class Refusal extends Error {
  constructor(status, sentence, body) {
    super(sentence);
    this.status = status;
    this.body = body;
  }
}

function headers() {
  const token = sessionStorage.getItem(KEPT);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

function askForToken() {
  const dialog = document.getElementById("token-dialog");
  asking ??= new Promise((resolve) => {
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.getElementById("token-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEPT, document.getElementById("token").value.trim());
      document.getElementById("token").value = "";
      dialog.close();
      asking = null;
      resolve();
    };
    dialog.showModal();
  });
  return asking;
}

async function fetched(path, options = {}) {
  for (;;) {
    const response = await fetch(path, { ...options, headers: { ...options.headers, ...headers() } });
    if (response.status !== 401) return response;
    await askForToken();
  }
}

export async function ask(path, method = "GET", body = undefined) {
  const options = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await fetched(path, options);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer.error ?? `The service answered ${response.status}.`, answer);
  return answer;
}

// Every state of a model, as server-sent events. EventSource could not send a token.
export async function* states(name, signal) {
  const response = await fetched(`/models/${encodeURIComponent(name)}/stream`, { signal });
  if (!response.ok) throw new Refusal(response.status, `The service answered ${response.status}.`, {});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const messages = text.split("\n\n");
    text = messages.pop();
    for (const message of messages) {
      const data = message.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data) yield JSON.parse(data);
    }
  }
}
