// One script for all pages: sends a form as JSON and shows each problem beside its field.
const token = new URLSearchParams(location.search).get("token");

const find = (selector) => document.querySelector(selector);

async function get(path) {
  const response = await fetch(path);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail);
  return answer;
}

async function post(path, body, headers = {}) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { ok: response.ok, answer: await response.json() };
}

function show(form, name, text) {
  const slot = form.querySelector(`[data-error="${CSS.escape(name)}"]`) ?? form.querySelector('[data-error=""]');
  slot.textContent = slot.textContent ? `${slot.textContent} ${text}` : text;
}

function showKey(key) {
  find("[data-key]").textContent = key;
  find("[data-curl]").textContent = `curl ${location.origin}/v1/people -H 'X-API-Key: ${key}'`;
}

async function makeKey(organization, button) {
  button.disabled = true;
  const { ok, answer } = await post(
    "/v1/organization/api-keys",
    { name: "Made on the sign-in page" },
    { "X-Organization-Id": organization.id },
  );
  find("[data-made]").hidden = false;
  if (ok) showKey(answer.key);
  else find("[data-key]").textContent = answer.detail;
  button.disabled = false;
}

// What a page does with the answer to its form.
const done = {
  setup: (answer) => showKey(answer.apiKey),
  "sign-in": async (answer) => {
    find("[data-user]").textContent = answer.user.name;
    const { organizations } = await get("/v1/auth/session");
    for (const organization of organizations) {
      const row = document.createElement("p");
      row.textContent = `${organization.name} (${organization.role}) `;
      if (organization.permissions.includes("api-key:create")) {
        const button = document.createElement("button");
        button.textContent = "Create an API key";
        button.addEventListener("click", () => makeKey(organization, button));
        row.append(button);
      }
      find("[data-organizations]").append(row);
    }
  },
};

async function submit(event) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("button");
  for (const slot of form.querySelectorAll("[data-error]")) slot.textContent = "";
  const body = {};
  for (const [name, value] of new FormData(form)) if (value !== "") body[name] = value;
  button.disabled = true;
  try {
    const { ok, answer } = await post(form.dataset.action, body);
    if (ok) {
      form.hidden = true;
      find("[data-done]").hidden = false;
      await done[form.dataset.page]?.(answer);
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

// The start page.
const needed = find("[data-setup-needed]");
if (needed) {
  const status = await get("/v1/setup").catch(() => ({}));
  needed.hidden = !status.needed;
  find("[data-sign-in]").hidden = status.needed !== false;
  const health = await get("/v1/health").catch(() => null);
  find("[data-version]").textContent = health ? `Version ${health.version}` : "The server is not responding.";
}

// The set-up page of an installation that is set up.
const setUp = find("[data-set-up]");
if (setUp) {
  const status = await get("/v1/setup").catch(() => ({}));
  setUp.hidden = status.needed !== false;
  find("form").hidden = status.needed === false;
}

// An invitation says to what, and to whom.
const invitation = find("[data-invitation]");
if (invitation) {
  try {
    const offer = await get(`/v1/auth/invitation?token=${encodeURIComponent(token ?? "")}`);
    find("[data-title]").textContent = `Join ${offer.organization}`;
    invitation.textContent = `${offer.organization} has invited ${offer.email}.`;
    find("[data-needs-password]").hidden = !offer.needsPassword;
    if (!offer.needsPassword) invitation.textContent += " Sign in afterwards with the password you have.";
  } catch (error) {
    invitation.textContent = error.message || "The server cannot be reached; try again.";
    find("form").hidden = true;
  }
}
