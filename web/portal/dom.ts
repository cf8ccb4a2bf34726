type Child = Node | string | undefined | false;
type Attributes = Record<string, string | boolean | undefined>;

/** An element with its attributes and what is in it. Text is only ever text. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

export const token = () => encodeURIComponent(new URLSearchParams(location.search).get('token') ?? '');
