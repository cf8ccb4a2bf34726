import { javascript } from '@codemirror/lang-javascript';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';
import CodeMirror, { Decoration, EditorView, type Extension, type ReactCodeMirrorRef, WidgetType } from '@uiw/react-codemirror';
import { useEffect, useMemo, useRef } from 'react';
import type { ScriptProblem } from './problems';

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--c-accent-text)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--c-ok-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--c-warn-text)' },
  { tag: [tags.comment], color: 'var(--c-text-3)' },
]);

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--c-canvas)', color: 'var(--c-text)', fontSize: '0.75rem' },
  '&.cm-focused': { outline: '2px solid var(--c-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.25rem' },
  '.cm-gutters': { backgroundColor: 'var(--c-canvas)', color: 'var(--c-text-3)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--c-hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--c-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--c-accent-soft)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--c-press)' },
  '.cm-wrong': { backgroundColor: 'var(--c-bad-soft)' },
  '.cm-problem': {
    padding: '2px 6px',
    borderLeft: '2px solid var(--c-bad)',
    backgroundColor: 'var(--c-bad-soft)',
    color: 'var(--c-bad-text)',
    whiteSpace: 'pre-wrap',
  },
});

/** The words of a mistake, under its line. */
class Message extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: Message) {
    return other.text === this.text;
  }
  toDOM() {
    const box = document.createElement('div');
    box.className = 'cm-problem';
    box.textContent = this.text;
    return box;
  }
}

function marked({ line: number, message }: ScriptProblem): Extension {
  return EditorView.decorations.compute(['doc'], ({ doc }) => {
    const line = doc.line(Math.min(Math.max(1, number), doc.lines));
    return Decoration.set([
      Decoration.line({ class: 'cm-wrong' }).range(line.from),
      Decoration.widget({ widget: new Message(message), block: true, side: 1 }).range(line.to),
    ]);
  });
}

type Props = {
  label: string;
  value: string;
  onChange?: (next: string) => void;
  /** Shown at its line; the cursor goes there. */
  problem?: ScriptProblem;
};

/** An editor of scripts. Without `onChange` it only shows one. */
export default function Editor({ label, value, onChange, problem }: Props) {
  const editor = useRef<ReactCodeMirrorRef>(null);
  const extensions = useMemo(
    () => [
      javascript(),
      look,
      syntaxHighlighting(colours),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ...(problem ? [marked(problem)] : []),
    ],
    [label, problem],
  );
  useEffect(() => {
    const view = editor.current?.view;
    if (!problem || !view) return;
    const line = view.state.doc.line(Math.min(Math.max(1, problem.line), view.state.doc.lines));
    const at = Math.min(line.from + Math.max(0, problem.column - 1), line.to);
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    view.focus();
  }, [problem]);
  return (
    <CodeMirror
      ref={editor}
      value={value}
      onChange={onChange}
      readOnly={!onChange}
      theme="none"
      extensions={extensions}
      // Tab leaves the editor, as it leaves every other field.
      indentWithTab={false}
      basicSetup={{
        syntaxHighlighting: false,
        foldGutter: false,
        autocompletion: false,
        highlightActiveLine: onChange !== undefined,
      }}
      minHeight="160px"
      maxHeight="520px"
    />
  );
}
