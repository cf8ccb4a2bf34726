/** The Markdown of agreements: what it says, as a tree that React or the DOM can show. Anything else stays as it was typed. */
export type Inline = { kind: 'text' | 'strong' | 'em' | 'code'; text: string };
export type Block =
  | { kind: 'heading'; level: number; text: Inline[] }
  | { kind: 'paragraph' | 'quote'; text: Inline[] }
  | { kind: 'list'; isOrdered: boolean; start: number; items: Inline[][] }
  | { kind: 'rule' };

const MARKS = /(\*\*|__)(?=\S)(.+?)(?<=\S)\1|([*_])(?=\S)(.+?)(?<=\S)\3(?!\w)|`([^`]+)`/g;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^ {0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

function inlines(text: string): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const mark of text.matchAll(MARKS)) {
    // Inside a word nothing is meant.
    if (mark[0].startsWith('_') && /\w/.test(text[mark.index - 1] ?? '')) continue;
    if (mark.index > at) parts.push({ kind: 'text', text: text.slice(at, mark.index) });
    const [, , strong, , em, code] = mark;
    if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else if (em !== undefined) parts.push({ kind: 'em', text: em });
    else parts.push({ kind: 'code', text: code ?? '' });
    at = mark.index + mark[0].length;
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) });
  return parts;
}

export function blocks(source: string): Block[] {
  const all: Block[] = [];
  let lines: string[] = [];
  let items: { isOrdered: boolean; start: number; texts: string[] } | undefined;
  const end = () => {
    if (items) {
      const { isOrdered, start, texts } = items;
      all.push({ kind: 'list', isOrdered, start, items: texts.map(inlines) });
    }
    if (lines.length > 0) {
      const isQuote = lines.every((line) => line.startsWith('>'));
      const text = lines.map((line) => (isQuote ? line.replace(/^> ?/, '') : line.trim())).join(' ');
      all.push({ kind: isQuote ? 'quote' : 'paragraph', text: inlines(text) });
    }
    items = undefined;
    lines = [];
  };
  for (const line of source.replaceAll('\r\n', '\n').split('\n')) {
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.trim() === '') {
      // A list goes on after an empty line; text begins anew.
      if (lines.length > 0) end();
    } else if (RULE.test(line)) {
      end();
      all.push({ kind: 'rule' });
    } else if (heading) {
      end();
      all.push({ kind: 'heading', level: heading[1]?.length ?? 1, text: inlines(heading[2] ?? '') });
    } else if (item) {
      const isOrdered = item[1] !== undefined;
      if (lines.length > 0 || items?.isOrdered !== isOrdered) end();
      items ??= { isOrdered, start: Number(item[1] ?? 1), texts: [] };
      items.texts.push(item[2] ?? '');
    } else if (items && /^\s{2,}\S/.test(line)) {
      items.texts.push(`${items.texts.pop() ?? ''} ${line.trim()}`);
    } else {
      if (items) end();
      lines.push(line);
    }
  }
  end();
  return all;
}
