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
  nda: (answer) => {
    find("[data-portal]").href = answer.portalUrl;
    find("[data-signed]").href = answer.pdfDownloadUrl;
    for (const part of ["[data-nda]", "[data-nda-text]", "[data-nda-preview]"]) find(part).hidden = true;
  },
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
  for (const box of form.querySelectorAll("input[type=checkbox]")) body[box.name] = box.checked;
  button.disabled = true;
  try {
    const { ok, answer } = await post(form.dataset.action.replace("{token}", encodeURIComponent(token ?? "")), body);
    if (ok) {
      form.hidden = true;
      const own = form.nextElementSibling;
      (own?.matches("[data-done]") ? own : find("[data-done]")).hidden = false;
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

// An agreement says what is agreed to, and by whom.
const nda = find("[data-nda]");
if (nda) {
  const path = `/v1/trust-access/nda/${encodeURIComponent(token ?? "")}`;
  try {
    const offer = await get(path);
    nda.textContent = `${offer.organizationName} asks ${offer.name} (${offer.email}) to agree to this text:`;
    find("[data-nda-text]").textContent = offer.plainText;
    for (const part of ["[data-nda-text]", "[data-nda-preview]", "form"]) find(part).hidden = false;
    find("#name").value = offer.name;
    find("[data-preview]").addEventListener("click", async () => {
      const { ok, answer } = await post(`${path}/preview-nda`, {});
      if (ok) location.assign(answer.pdfDownloadUrl);
      else show(find("form"), "", answer.detail);
    });
  } catch (error) {
    nda.textContent = error.message || "The server cannot be reached; try again.";
  }
}

// What a link gives access to.
const access = find("[data-access]");
if (access) {
  const path = `/v1/trust-access/access/${encodeURIComponent(token ?? "")}`;
  const item = (list, text, href) => {
    const row = document.createElement("li");
    const link = document.createElement(href ? "a" : "span");
    if (href) link.href = href;
    link.textContent = text;
    row.append(link);
    find(list).append(row);
  };
  try {
    const found = await get(path);
    find("[data-title]").textContent = `Documents of ${found.organizationName}`;
    access.textContent = `For ${found.name} (${found.email}), until ${new Date(found.expiresAt).toLocaleDateString()}. Every page you download carries your name.`;
    for (const one of found.complianceResources) {
      item("[data-certificates]", `${one.title}: ${one.fileName}`, `${path}/compliance-resources/${one.framework}`);
    }
    for (const one of found.policies) {
      item("[data-policies]", one.name, one.isDownloadable ? `${path}/policies/${one.id}` : null);
    }
    find("[data-all]").href = `${path}/policies/download-all`;
    find("[data-documents]").hidden = false;
  } catch (error) {
    access.textContent = error.message || "The server cannot be reached; try again.";
  }
}
