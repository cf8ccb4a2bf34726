// One script for all forms: sends the fields as JSON, shows each problem beside its field.
const token = new URLSearchParams(location.search).get("token");

function show(form, name, text) {
  const slot = form.querySelector(`[data-error="${CSS.escape(name)}"]`) ?? form.querySelector('[data-error=""]');
  slot.textContent = slot.textContent ? `${slot.textContent} ${text}` : text;
}

async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  for (const slot of form.querySelectorAll("[data-error]")) slot.textContent = "";
  const body = {};
  for (const [name, value] of new FormData(form)) if (value !== "") body[name] = value;
  button.disabled = true;
  try {
    const response = await fetch(form.dataset.action, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (response.ok) {
      form.hidden = true;
      document.querySelector("[data-done]").hidden = false;
      return;
    }
    for (const error of answer.errors ?? []) show(form, error.field, `This ${error.message}.`);
    if (!answer.errors) show(form, "", answer.detail);
  } catch {
    show(form, "", "The server cannot be reached; try again.");
  } finally {
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll("form")) {
  if (token && form.elements.token) form.elements.token.value = token;
  form.addEventListener("submit", submit);
}

const needed = document.querySelector("[data-setup-needed]");
if (needed) {
  const status = await fetch("/v1/setup").then((response) => response.json()).catch(() => ({}));
  needed.hidden = !status.needed;
  const health = await fetch("/v1/health").then((response) => response.json()).catch(() => null);
  document.querySelector("[data-version]").textContent = health ? `version ${health.version}` : "not answering";
}
