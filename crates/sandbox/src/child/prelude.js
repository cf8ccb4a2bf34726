// What a script finds besides the language itself. `native` holds the functions of native.rs.
(native) => {
  "use strict";

  // Kept from before the script runs, which may replace them.
  const { parse, stringify } = JSON;
  const { defineProperty, freeze, keys } = Object;
  const unbound = (method) => Function.prototype.call.bind(method);
  const wellFormed = unbound(String.prototype.toWellFormed);
  const toBase64 = unbound(Uint8Array.prototype.toBase64);
  const toHex = unbound(Uint8Array.prototype.toHex);
  const fromBase64 = Uint8Array.fromBase64.bind(Uint8Array);
  const { isView } = ArrayBuffer;

  /** A text that UTF-8 can hold. */
  const text = (value) => wellFormed(`${value}`);

  const bytesOf = (value) => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    throw new TypeError("Expected an ArrayBuffer or a typed array");
  };

  // ---- Calls of the host

  /** The error is made before the call, so that its stack names the line of the script. */
  const call = async (operation, argument, failure) => {
    try {
      return await native.call(operation, stringify(argument));
    } catch (reason) {
      failure.message = reason;
      throw failure;
    }
  };

  const secret = async (name) => {
    if (typeof name !== "string") throw new TypeError("secret: the name must be a string");
    return await call("secret", text(name), new Error());
  };

  const dns = async (name, type = "A") => {
    return await call("dns", { name: text(name), type: text(type) }, new Error());
  };

  const tls = async (host, port = 443) => {
    if (!Number.isInteger(port) || port < 1 || port > 65535) {
      throw new RangeError("tls: the port must be a whole number from 1 to 65535");
    }
    return await call("tls", { host: text(host), port }, new Error());
  };

  const log = (...values) => native.log(wellFormed(values.map(shown).join(" ")));

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (typeof value !== "object" || value === null) return String(value);
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };

  // ---- fetch

  class Headers {
    #list = [];

    constructor(init = []) {
      if (init === null || typeof init !== "object") throw new TypeError("Headers: expected an object or pairs");
      const pairs = Symbol.iterator in init ? [...init] : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }

    static #name(name) {
      const lower = text(name).toLowerCase();
      if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(lower)) {
        throw new TypeError(`Headers: ${stringify(lower)} is not a name`);
      }
      return lower;
    }

    append(name, value) {
      const clean = text(value).trim();
      if (/[\0\r\n]/.test(clean)) throw new TypeError(`Headers: the value of ${name} has a line break or a NUL`);
      this.#list.push([Headers.#name(name), clean]);
    }

    delete(name) {
      const wanted = Headers.#name(name);
      this.#list = this.#list.filter(([name]) => name !== wanted);
    }

    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }

    has(name) {
      return this.get(name) !== null;
    }

    get(name) {
      const wanted = Headers.#name(name);
      const values = this.#list.filter(([name]) => name === wanted).map(([, value]) => value);
      return values.length === 0 ? null : values.join(", ");
    }

    getSetCookie() {
      return this.#list.filter(([name]) => name === "set-cookie").map(([, value]) => value);
    }

    *entries() {
      const names = [...new Set(this.#list.map(([name]) => name))].sort();
      for (const name of names) {
        if (name === "set-cookie") for (const value of this.getSetCookie()) yield [name, value];
        else yield [name, this.get(name)];
      }
    }

    *keys() {
      for (const [name] of this.entries()) yield name;
    }

    *values() {
      for (const [, value] of this.entries()) yield value;
    }

    forEach(callback) {
      for (const [name, value] of this.entries()) callback(value, name, this);
    }

    [Symbol.iterator]() {
      return this.entries();
    }
  }

  const bodyOf = (body, headers) => {
    if (body === undefined || body === null) return null;
    if (typeof body === "string") return toBase64(new Uint8Array(native.encode(wellFormed(body))));
    if (body instanceof URLSearchParams) {
      if (!headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
      return toBase64(new Uint8Array(native.encode(body.toString())));
    }
    if (body instanceof ArrayBuffer || isView(body)) return toBase64(bytesOf(body));
    throw new TypeError("fetch: the body must be a string or bytes; for JSON, use JSON.stringify(…)");
  };

  const requestOf = (url, init) => {
    if (init === null || typeof init !== "object") throw new TypeError("fetch: the options must be an object");
    const unknown = keys(init).filter((name) => !["method", "headers", "body"].includes(name));
    if (unknown.length > 0) {
      throw new TypeError(`fetch: unknown option ${unknown.join(", ")}; there are method, headers and body`);
    }
    const method = text(init.method ?? "GET").toUpperCase();
    const headers = new Headers(init.headers ?? []);
    const body = bodyOf(init.body, headers);
    if (body !== null && (method === "GET" || method === "HEAD")) {
      throw new TypeError(`fetch: a ${method} request has no body`);
    }
    return { url: text(url), method, headers: [...headers], body };
  };

  const responseOf = ({ status, statusText, url, redirected, headers, body }) => {
    const base64 = body ?? "";
    const decoded = () => native.decode(base64, false).replace(/^\uFEFF/, "");
    return freeze({
      status,
      statusText,
      url,
      redirected,
      ok: status >= 200 && status <= 299,
      headers: new Headers(headers),
      text: async () => decoded(),
      json: async () => {
        const failure = new SyntaxError();
        try {
          return parse(decoded());
        } catch (error) {
          failure.message = `The body is not JSON: ${error.message}`;
          throw failure;
        }
      },
      bytes: async () => fromBase64(base64),
      arrayBuffer: async () => fromBase64(base64).buffer,
    });
  };

  const fetch = async (url, init = {}) => responseOf(await call("fetch", requestOf(url, init), new Error()));

  // ---- Addresses

  let refill;

  class URLSearchParams {
    #list = [];
    #changed = () => {};

    constructor(init = "") {
      if (init !== null && typeof init === "object") {
        const pairs = Symbol.iterator in init ? [...init] : Object.entries(init);
        this.#list = pairs.map(([name, value]) => [text(name), text(value)]);
      } else {
        this.#list = native.parseQuery(text(init).replace(/^\?/, ""));
      }
    }

    static {
      /** Takes over the query of an address, which is told of changes. */
      refill = (params, query, changed) => {
        params.#list = native.parseQuery(query.replace(/^\?/, ""));
        params.#changed = changed;
      };
    }

    get size() {
      return this.#list.length;
    }

    append(name, value) {
      this.#list.push([text(name), text(value)]);
      this.#changed();
    }

    delete(name, value) {
      this.#list = this.#list.filter(([n, v]) => n !== text(name) || (value !== undefined && v !== text(value)));
      this.#changed();
    }

    get(name) {
      return this.#list.find(([n]) => n === text(name))?.[1] ?? null;
    }

    getAll(name) {
      return this.#list.filter(([n]) => n === text(name)).map(([, value]) => value);
    }

    has(name, value) {
      return this.#list.some(([n, v]) => n === text(name) && (value === undefined || v === text(value)));
    }

    set(name, value) {
      const first = this.#list.findIndex(([n]) => n === text(name));
      if (first < 0) return this.append(name, value);
      this.#list[first][1] = text(value);
      this.#list = this.#list.filter(([n], index) => index <= first || n !== text(name));
      this.#changed();
    }

    sort() {
      this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(callback) {
      for (const [name, value] of this) callback(value, name, this);
    }

    *entries() {
      for (const [name, value] of this.#list) yield [name, value];
    }

    *keys() {
      for (const [name] of this.#list) yield name;
    }

    *values() {
      for (const [, value] of this.#list) yield value;
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return native.formatQuery(this.#list);
    }
  }

  class URL {
    #parts;
    #params = new URLSearchParams();

    constructor(url, base) {
      const parts = native.url(text(url), base === undefined ? undefined : text(base));
      if (!parts) throw new TypeError(`Invalid URL: ${text(url)}`);
      this.#take(parts);
    }

    #take(parts) {
      this.#parts = parts;
      refill(this.#params, parts.search, () => {
        this.#parts = native.urlWith(this.#parts.href, "search", this.#params.toString());
      });
    }

    #set(part, value) {
      const parts = native.urlWith(this.#parts.href, part, text(value));
      if (!parts) throw new TypeError(`Invalid URL: ${text(value)}`);
      this.#take(parts);
    }

    static {
      const settable = "href protocol username password host hostname port pathname search hash".split(" ");
      for (const part of settable) {
        defineProperty(this.prototype, part, {
          get() {
            return this.#parts[part];
          },
          set(value) {
            this.#set(part, value);
          },
          enumerable: true,
          configurable: true,
        });
      }
    }

    static canParse(url, base) {
      return URL.parse(url, base) !== null;
    }

    static parse(url, base) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }

    get origin() {
      return this.#parts.origin;
    }

    get searchParams() {
      return this.#params;
    }

    toString() {
      return this.#parts.href;
    }

    toJSON() {
      return this.#parts.href;
    }
  }

  // ---- Text and bytes

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(value = "") {
      return new Uint8Array(native.encode(text(value)));
    }
  }

  class TextDecoder {
    #fatal;
    #keepMark;

    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!/^utf-?8$/i.test(text(label).trim())) throw new RangeError("TextDecoder: there is only utf-8");
      this.#fatal = Boolean(fatal);
      this.#keepMark = Boolean(ignoreBOM);
    }

    get encoding() {
      return "utf-8";
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#keepMark;
    }

    decode(bytes = new Uint8Array(), { stream = false } = {}) {
      if (stream) throw new TypeError("TextDecoder: there are no streams");
      const decoded = native.decode(toBase64(bytesOf(bytes)), this.#fatal) ?? null;
      if (decoded === null) throw new TypeError("TextDecoder: the bytes are not UTF-8");
      return this.#keepMark ? decoded : decoded.replace(/^\uFEFF/, "");
    }
  }

  const atob = (value) => {
    const decoded = native.atob(text(value)) ?? null;
    if (decoded === null) throw new TypeError("atob: the text is not base64");
    return decoded;
  };

  const btoa = (value) => {
    const encoded = native.btoa(text(value)) ?? null;
    if (encoded === null) throw new TypeError("btoa: the text has characters beyond Latin-1; encode it as UTF-8 first");
    return encoded;
  };

  const digest = async (algorithm, data) => {
    const name = text(algorithm?.name ?? algorithm).toUpperCase();
    const found = native.digest(name, toBase64(bytesOf(data))) ?? null;
    if (found === null) throw new TypeError("crypto.subtle.digest: there are SHA-256, SHA-384 and SHA-512");
    return found;
  };

  // The engine's own starts with the same number in all children of a template.
  Math.random = {
    random() {
      return native.number();
    },
  }.random;

  // The engine's clock counts from the start of the template.
  const { now: wallClock } = Date;
  const clock = performance.now.bind(performance);
  let timeOrigin = 0;
  let origin = 0;
  const begin = () => {
    timeOrigin = wallClock();
    origin = clock();
  };

  const random = (length) => new Uint8Array(native.random(length));

  const getRandomValues = (view) => {
    const bytes = bytesOf(view);
    if (bytes.length > 65535) throw new RangeError("crypto.getRandomValues: at most 65535 bytes at once");
    bytes.set(random(bytes.length));
    return view;
  };

  const randomUUID = () => {
    const bytes = random(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };

  // ---- What is global, and what is handed over

  const globals = {
    Headers,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    console: { debug: log, error: log, info: log, log, warn: log },
    crypto: freeze({ getRandomValues, randomUUID, subtle: freeze({ digest }) }),
    performance: freeze({
      now: () => clock() - origin,
      get timeOrigin() {
        return timeOrigin;
      },
    }),
  };
  for (const name of keys(globals)) {
    defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true });
  }

  return {
    begin,
    context: ({ now = null, event = null, task = null, parameters = null }) =>
      freeze({ fetch, secret, dns, tls, log, now, event, task, parameters }),
    start: async (main, ctx) => await main(ctx),
  };
}
