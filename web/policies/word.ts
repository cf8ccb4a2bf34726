/** The marker in front of an item, which Word writes as text. */
const MARKER = '[style*="mso-list:Ignore" i], [style*="mso-list: Ignore" i]';
/** Word itself has nine levels. */
const DEEPEST = 9;
const ORDERED = /^\(?(\d+|[a-z]{1,4})[.)]/i;

type Item = { level: number; tag: 'ol' | 'ul'; content: Node[] };

function itemOf(paragraph: Element): Item | undefined {
  const style = paragraph.getAttribute('style') ?? '';
  const level = /mso-list:[^;]*\blevel(\d+)/i.exec(style)?.[1];
  if (!level) return undefined;
  const marker = paragraph.querySelector(MARKER);
  const tag = ORDERED.test(marker?.textContent?.trim() ?? '') ? 'ol' : 'ul';
  marker?.remove();
  return {
    level: Math.min(Number(level), DEEPEST),
    tag,
    content: [...paragraph.childNodes].filter(({ nodeType }) => nodeType !== Node.COMMENT_NODE),
  };
}

/** Word pastes the items of a list as paragraphs that carry their level: they become the lists they were. */
export function wordLists(html: string): string {
  if (!/mso-list:/i.test(html)) return html;
  const page = new DOMParser().parseFromString(html, 'text/html');
  /** The lists that are open, the outermost first. */
  let open: HTMLElement[] = [];
  for (const paragraph of [...page.body.querySelectorAll('p')]) {
    const item = itemOf(paragraph);
    if (!item) {
      open = [];
      continue;
    }
    const isNext = open[0] !== undefined && paragraph.previousElementSibling === open[0];
    if (!isNext) open = [];
    open = open.slice(0, item.level);
    // Another kind of list at the same level is another list.
    if (open.length === item.level && open.at(-1)?.localName !== item.tag) open.pop();
    while (open.length < item.level) {
      const list = page.createElement(item.tag);
      const outer = open.at(-1);
      if (outer) (outer.lastElementChild ?? outer.appendChild(page.createElement('li'))).append(list);
      else paragraph.before(list);
      open.push(list);
    }
    const line = page.createElement('li');
    const text = page.createElement('p');
    text.append(...item.content);
    line.append(text);
    open.at(-1)?.append(line);
    paragraph.remove();
  }
  return page.body.innerHTML;
}
